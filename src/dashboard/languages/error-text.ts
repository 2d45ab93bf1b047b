/** A sentence of the server in the language of the dashboard: `{1}` is the first group of the pattern. */
export type SentencePattern = readonly [pattern: RegExp, text: string];

/** The texts for errors of the server. */
export interface ErrorStrings {
	/** By the code of an error. `{message}` is the server's sentence, for codes whose sentence says more than the code. */
	byCode: Readonly<Record<string, string>>;
	/** Whole sentences of the server that say more than their code. */
	sentences: readonly SentencePattern[];
	/** Reasons why a value is rejected: the ends of sentences that begin with the field. */
	reasons: readonly SentencePattern[];
}

interface ServerError {
	code: string;
	message: string;
	details?: readonly { path: string; message: string }[];
}

/** An error of the server as a sentence: the most precise text of the language, else the server's own. */
export function errorText(texts: ErrorStrings, { code, message, details = [] }: ServerError): string {
	const sentence = translated(texts.sentences, message);
	if (sentence !== undefined) return sentence;
	const text = Object.hasOwn(texts.byCode, code) ? texts.byCode[code] : undefined;
	if (text === undefined) return message;
	const reasons = details.map(({ path, message: reason }) => `${path} ${reasonText(texts, reason)}`.trim());
	const isReasons = reasons.length > 0 && !details.some(({ message: reason }) => isSentence(reason));
	return text.replace('{message}', () => (isReasons ? `${reasons.join('; ')}.` : message));
}

/** Why a field is rejected: the end of a sentence that begins with the field, or a sentence. @param code of the error */
export function fieldErrorText(texts: ErrorStrings, code: string, reason: string): string {
	return isSentence(reason) ? errorText(texts, { code, message: reason }) : reasonText(texts, reason);
}

/** Why a value is rejected, in the language of the dashboard if it has a text for it. */
function reasonText(texts: ErrorStrings, reason: string): string {
	return translated(texts.reasons, reason) ?? reason;
}

/** Reasons begin with a verb, for example: must not be empty. */
function isSentence(reason: string): boolean {
	return /^[^a-z]/.test(reason);
}

function translated(patterns: readonly SentencePattern[], sentence: string): string | undefined {
	for (const [pattern, text] of patterns) {
		const match = pattern.exec(sentence);
		if (match) return text.replace(/\{(\d)\}/g, (_, group: string) => match[Number(group)] ?? '');
	}
	return undefined;
}
