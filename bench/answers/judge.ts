/** What a correct reply to a question holds, written from the documents alone. */
export interface Expectation {
	/** Whether the documents answer the question. If not, the right reply is a refusal. */
	answerable: boolean;
	/** The reply must have an alternative of each group. */
	required: string[][];
	/** Values that make a reply wrong: of another row, product or branch, or false. */
	forbidden: string[];
	/** Whether a reply without citations counts as an answer too. It does for greetings and the like. Default false. */
	citationOptional?: boolean;
}

/** A reply, as far as it is judged. */
export interface JudgedReply {
	content: string;
	/** Whether it cites a document. A reply without citations is a refusal. */
	isCited: boolean;
}

/**
 * `mixed` has all required values and also forbidden ones. It counts as wrong. `refused` is the outcome of an answerable question
 * only: the refusal of an unanswerable question is `right`.
 */
export type Outcome = 'right' | 'mixed' | 'wrong' | 'refused';

export interface Judgement {
	outcome: Outcome;
	/** Whether the reply is a refusal. */
	isRefusal: boolean;
	/** The groups of which the reply has no alternative. */
	missing: string[][];
	/** The forbidden values that the reply has. */
	forbidden: string[];
}

/** Judges a reply by its values. */
export function judge({ content, isCited }: JudgedReply, expected: Expectation): Judgement {
	const text = normalise(content);
	const missing = expected.required.filter((group) => !group.some((value) => holds(text, value)));
	const forbidden = expected.forbidden.filter((value) => holds(text, value));
	const isRefusal = !isCited && !(expected.citationOptional && expected.answerable);
	return { outcome: outcomeOf(), isRefusal, missing, forbidden };

	function outcomeOf(): Outcome {
		if (!expected.answerable) return isRefusal && forbidden.length === 0 ? 'right' : 'wrong';
		if (isRefusal) return 'refused';
		if (missing.length > 0) return 'wrong';
		return forbidden.length > 0 ? 'mixed' : 'right';
	}
}

/** Whether a text has a value, between word boundaries. */
export function hasValue(content: string, value: string): boolean {
	return holds(normalise(content), value);
}

/** A character between two digits that belongs to the number, or a run of characters that separates words. */
const SEPARATOR = /((?<=\p{Nd})[.,:](?=\p{Nd}))|[^\p{L}\p{N}]+/gu;

/**
 * The text as it is compared: NFKD without accents, in lower case, without citation markers, with one space for every run of
 * characters other than letters, digits, and `.`, `,` and `:` between digits.
 */
export function normalise(text: string): string {
	return text
		.replace(/\[\d+\]/g, ' ')
		.normalize('NFKD')
		.replace(/\p{M}/gu, '')
		.toLowerCase()
		.replace(SEPARATOR, (_, ofNumber: string | undefined) => ofNumber ?? ' ')
		.trim();
}

function holds(normalised: string, value: string): boolean {
	const wanted = normalise(value);
	return wanted !== '' && ` ${normalised} `.includes(` ${wanted} `);
}
