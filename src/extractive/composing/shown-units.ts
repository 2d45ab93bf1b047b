import type { TermSpace } from '../matching/term-space.ts';
import { QUESTION_ENDING, SHORT_REPLY, type Terms, type Unit } from '../reading/passage-reading.ts';

/** A sentence under a question that is shorter repeats too little of the question. */
const MIN_STATEMENT_CHARACTERS = 40;
/** A match of a whole word, a synonym or a part of a compound. */
const SURE_MATCH = 0.75;
/** Function words and words such as `need` weigh less. */
const MIN_CONTENT_WEIGHT = 0.5;

/** The units of one passage that an answer shows, in the order of the document. */
export class ShownUnits {
	readonly #space: TermSpace;
	readonly #units: readonly Unit[];
	readonly #positions = new Set<number>();

	constructor(space: TermSpace, units: readonly Unit[]) {
		this.#space = space;
		this.#units = units;
	}

	add(position: number): void {
		this.#positions.add(position);
	}

	has(position: number): boolean {
		return this.#positions.has(position);
	}

	/** The units. A reply to another question than the asked one has its question before it: `Is it free? Yes.` */
	list(): Unit[] {
		const positions = [...this.#positions].sort((a, b) => a - b);
		return positions.map((at) => {
			const unit = this.#units[at] as Unit;
			const question = this.#positions.has(at - 1) ? null : questionOf(this.#units, at);
			if (question === null || !isReply(this.#units, at) || this.#isAsked(question.terms)) return unit;
			return { ...unit, label: '', text: `${question.text} ${unit.text}` };
		});
	}

	/** Whether a question of the document is the asked one: each has the content words of the other. */
	#isAsked(terms: Terms): boolean {
		const matches = this.#space.matchesIn(terms);
		const isOwn = this.#space.terms.some(({ isCarriedOver }) => !isCarriedOver);
		const hasAll = this.#space.terms.every(
			({ weight, asksFor, isCarriedOver }, i) =>
				weight < MIN_CONTENT_WEIGHT ||
				asksFor.length > 0 ||
				(isOwn && isCarriedOver) ||
				(matches[i] as number) >= SURE_MATCH,
		);
		return hasAll && this.#space.fit(terms) >= SURE_MATCH;
	}
}

/** Whether a unit means nothing without the question above it: `Yes, for all guests.` */
export function isReply(units: readonly Unit[], position: number): boolean {
	const unit = units[position] as Unit;
	if (questionOf(units, position) === null) return false;
	return SHORT_REPLY.test(unit.text) || (unit.kind === 'sentence' && unit.text.length < MIN_STATEMENT_CHARACTERS);
}

/** The question directly above a unit; null without one. */
function questionOf(units: readonly Unit[], position: number): { text: string; terms: Terms } | null {
	const unit = units[position] as Unit;
	const before = units[position - 1];
	if (before?.isAnnouncement && QUESTION_ENDING.test(before.text)) return before;
	return unit.isQuestion && unit.topicDistance === 0 ? { text: unit.topic, terms: unit.topicTerms } : null;
}
