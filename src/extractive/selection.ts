import type { AnswerType } from './answer-types.ts';
import type { ScoredUnit, Source } from './scoring.ts';

/** The quoted units of one passage, in the order of the document. */
export interface Quotation {
	source: Source;
	/** Positions of the quoted units within the passage, ascending. */
	positions: number[];
	/** The positions after which units of a long list or table were omitted. */
	cutAfter: ReadonlySet<number>;
}

/** A reader takes in about five sentences at a glance. A list is easier to read and may be longer. */
const MAX_SENTENCES = 5;
const MAX_QUOTED_WORDS = 120;
const MAX_LIST_UNITS = 12;
const MAX_SOURCES = 3;

/** A unit below this share of the best score is probably about something else. */
const MIN_SHARE_OF_BEST = 0.62;
/** Two sentences with this share of common words count as duplicates. */
const DUPLICATE_SHARE = 0.75;

/** Chooses the best units and those that they need to be understood, without duplicates. */
export function selectQuotations(scored: readonly ScoredUnit[], wants: ReadonlySet<AnswerType>): Quotation[] {
	const ranked = scored.filter((one) => one.sharesTerm && one.score > 0).sort((a, b) => b.score - a.score);
	const best = ranked[0];
	if (!best) return [];
	const candidates = ranked.filter((one) => one.score >= best.score * MIN_SHARE_OF_BEST);
	const selector = new QuotationSelector(scored, new Set(candidates), wants.has('steps'));
	for (const one of candidates) {
		if (selector.isFull) break;
		selector.add(one);
	}
	return selector.quotations();
}

class QuotationSelector {
	readonly #unitsBySource = new Map<Source, ScoredUnit[]>();
	readonly #candidates: ReadonlySet<ScoredUnit>;
	readonly #wantsSteps: boolean;
	readonly #chosen = new Map<Source, Set<number>>();
	readonly #cutAfter = new Map<Source, Set<number>>();
	/** The lists and tables that were handled already. */
	readonly #groups = new Set<string>();
	readonly #quotedTerms: Array<ReadonlySet<string>> = [];
	#sentences = 0;
	#words = 0;

	/** @param wantsSteps instructions are useful only from the first step to the last, so they are quoted whole */
	constructor(scored: readonly ScoredUnit[], near: ReadonlySet<ScoredUnit>, wantsSteps: boolean) {
		for (const one of scored) {
			const units = this.#unitsBySource.get(one.source) ?? [];
			units[one.position] = one;
			this.#unitsBySource.set(one.source, units);
		}
		this.#candidates = near;
		this.#wantsSteps = wantsSteps;
	}

	get isFull(): boolean {
		return this.#sentences >= MAX_SENTENCES || this.#words >= MAX_QUOTED_WORDS;
	}

	/** Takes a unit with the units that it needs, unless it is a duplicate or does not fit. */
	add(one: ScoredUnit): void {
		if (!this.#chosen.has(one.source) && this.#chosen.size >= MAX_SOURCES) return;
		if (this.#isChosen(one) || this.#isDuplicate(one.unit.terms)) return;
		if (one.unit.kind === 'item' || one.unit.kind === 'row') this.#takeGroup(one);
		else this.#takeSentence(one);
	}

	quotations(): Quotation[] {
		return [...this.#chosen].map(([source, positions]) => ({
			source,
			positions: [...positions].sort((a, b) => a - b),
			cutAfter: this.#cutAfter.get(source) ?? new Set<number>(),
		}));
	}

	#takeSentence(one: ScoredUnit): void {
		const together = [one];
		const before = this.#at(one, -1);
		const after = this.#at(one, 1);
		if (one.unit.isDependent && before && sameBlock(one, before) && !before.unit.isAnnouncement)
			together.unshift(before);
		if (one.unit.leadIn !== null) together.unshift(this.#unitAt(one, one.unit.leadIn));
		const rest = after?.unit.leadIn === one.position ? after : null;
		if (after && !rest && after.unit.isDependent && sameBlock(one, after)) together.push(after);
		if (!this.#fits(together)) return;
		for (const unit of together) this.#add(unit);
		// A sentence that ends with a colon needs the list that it introduces.
		if (rest) this.#takeGroup(rest, true);
	}

	/** Takes a list or table: the whole if most of it matches or a sentence introduces it, otherwise the matching lines. */
	#takeGroup(one: ScoredUnit, whole = false): void {
		const units = (this.#unitsBySource.get(one.source) as ScoredUnit[]).filter((other) => sameBlock(one, other));
		const key = `${one.source.passage.index}.${one.unit.block}`;
		if (this.#groups.has(key)) return;
		this.#groups.add(key);
		const matching = units.filter((unit) => this.#candidates.has(unit));
		const isProcedure = this.#wantsSteps && (one.unit.number !== null || one.unit.leadIn !== null);
		const taken = whole || isProcedure || matching.length * 2 > units.length ? units : matching;
		const shown = taken.slice(0, MAX_LIST_UNITS);
		const lead = one.unit.leadIn === null ? null : this.#unitAt(one, one.unit.leadIn);
		if (lead && !this.#isChosen(lead)) this.#add(lead);
		for (const unit of shown) this.#add(unit);
		const last = shown.at(-1);
		if (last && shown.length < taken.length) {
			this.#cutAfter.set(one.source, new Set([...(this.#cutAfter.get(one.source) ?? []), last.position]));
		}
	}

	/** The first quotation is always taken, further ones only within the limit of words. */
	#fits(together: ScoredUnit[]): boolean {
		const words = together.reduce((sum, one) => sum + one.unit.words, 0);
		return this.#sentences === 0 || this.#words + words <= MAX_QUOTED_WORDS;
	}

	#add(one: ScoredUnit): void {
		const positions = this.#chosen.get(one.source) ?? new Set<number>();
		if (positions.has(one.position)) return;
		positions.add(one.position);
		this.#chosen.set(one.source, positions);
		this.#quotedTerms.push(one.unit.terms);
		this.#sentences++;
		this.#words += one.unit.words;
	}

	#isChosen(one: ScoredUnit): boolean {
		return this.#chosen.get(one.source)?.has(one.position) ?? false;
	}

	#isDuplicate(terms: ReadonlySet<string>): boolean {
		return this.#quotedTerms.some((said) => {
			let common = 0;
			for (const term of terms) if (said.has(term)) common++;
			return common >= DUPLICATE_SHARE * terms.size;
		});
	}

	#at(one: ScoredUnit, offset: number): ScoredUnit | undefined {
		return this.#unitsBySource.get(one.source)?.[one.position + offset];
	}

	#unitAt(one: ScoredUnit, position: number): ScoredUnit {
		return (this.#unitsBySource.get(one.source) as ScoredUnit[])[position] as ScoredUnit;
	}
}

function sameBlock(a: ScoredUnit, b: ScoredUnit): boolean {
	return a.unit.block === b.unit.block;
}
