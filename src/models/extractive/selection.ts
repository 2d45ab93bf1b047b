import type { AnswerKind } from './answer-kinds.ts';
import type { ScoredUnit, Source } from './scoring.ts';

/** What is quoted of one passage, in the document's order. */
export interface Quotation {
	source: Source;
	/** Positions of the quoted units within the passage, ascending. */
	positions: number[];
	/** Where a long list or table was cut: positions after which something was left out. */
	cutAfter: ReadonlySet<number>;
}

/** A reader takes in about five sentences at a glance; a list is easier and may be longer. */
const MOST_SENTENCES = 5;
const MOST_WORDS = 120;
const MOST_LIST_UNITS = 12;
const MOST_SOURCES = 3;

/** What falls below this share of the best mark is rather about something else. */
const NEAR_BEST = 0.62;
/** At this share of common words two sentences say the same. */
const SAME = 0.75;

/** Chooses what to quote: the best units, what they need to be understood, nothing twice. */
export function select(scored: readonly ScoredUnit[], wants: ReadonlySet<AnswerKind>): Quotation[] {
	const ranked = scored.filter((one) => one.shares && one.score > 0).sort((a, b) => b.score - a.score);
	const best = ranked[0];
	if (!best) return [];
	const near = ranked.filter((one) => one.score >= best.score * NEAR_BEST);
	const choice = new Choice(scored, new Set(near), wants.has('steps'));
	for (const one of near) {
		if (choice.full) break;
		choice.take(one);
	}
	return choice.quotations();
}

class Choice {
	readonly #byPlace = new Map<Source, ScoredUnit[]>();
	readonly #near: ReadonlySet<ScoredUnit>;
	readonly #wantsSteps: boolean;
	readonly #chosen = new Map<Source, Set<number>>();
	readonly #cutAfter = new Map<Source, Set<number>>();
	/** The lists and tables that were looked at already. */
	readonly #groups = new Set<string>();
	readonly #said: Array<ReadonlySet<string>> = [];
	#sentences = 0;
	#words = 0;

	/** @param wantsSteps a way to do something is of use only from its first step to its last */
	constructor(scored: readonly ScoredUnit[], near: ReadonlySet<ScoredUnit>, wantsSteps: boolean) {
		for (const one of scored) {
			const units = this.#byPlace.get(one.source) ?? [];
			units[one.position] = one;
			this.#byPlace.set(one.source, units);
		}
		this.#near = near;
		this.#wantsSteps = wantsSteps;
	}

	get full(): boolean {
		return this.#sentences >= MOST_SENTENCES || this.#words >= MOST_WORDS;
	}

	/** Takes a unit with what belongs to it, unless that was said already or is too much. */
	take(one: ScoredUnit): void {
		if (!this.#chosen.has(one.source) && this.#chosen.size >= MOST_SOURCES) return;
		if (this.#isChosen(one) || this.#isSaid(one.unit.terms)) return;
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
		if (one.unit.leans && before && sameBlock(one, before) && !before.unit.announces) together.unshift(before);
		if (one.unit.lead !== null) together.unshift(this.#unitAt(one, one.unit.lead));
		const rest = after?.unit.lead === one.position ? after : null;
		if (after && !rest && after.unit.leans && sameBlock(one, after)) together.push(after);
		if (!this.#fits(together)) return;
		for (const unit of together) this.#add(unit);
		// A sentence that ends with a colon is nothing without what it introduces.
		if (rest) this.#takeGroup(rest, true);
	}

	/** Takes a list or table: as a whole where most of it matches (or it was announced), else the lines that do. */
	#takeGroup(one: ScoredUnit, whole = false): void {
		const units = (this.#byPlace.get(one.source) as ScoredUnit[]).filter((other) => sameBlock(one, other));
		const key = `${one.source.passage.index}.${one.unit.block}`;
		if (this.#groups.has(key)) return;
		this.#groups.add(key);
		const matching = units.filter((unit) => this.#near.has(unit));
		const isWay = this.#wantsSteps && (one.unit.number !== null || one.unit.lead !== null);
		const taken = whole || isWay || matching.length * 2 > units.length ? units : matching;
		const shown = taken.slice(0, MOST_LIST_UNITS);
		const lead = one.unit.lead === null ? null : this.#unitAt(one, one.unit.lead);
		if (lead && !this.#isChosen(lead)) this.#add(lead);
		for (const unit of shown) this.#add(unit);
		const last = shown.at(-1);
		if (last && shown.length < taken.length) {
			this.#cutAfter.set(one.source, new Set([...(this.#cutAfter.get(one.source) ?? []), last.position]));
		}
	}

	/** The first quotation is always given; further ones only within the bounds. */
	#fits(together: ScoredUnit[]): boolean {
		const words = together.reduce((sum, one) => sum + one.unit.words, 0);
		return this.#sentences === 0 || this.#words + words <= MOST_WORDS;
	}

	#add(one: ScoredUnit): void {
		const positions = this.#chosen.get(one.source) ?? new Set<number>();
		if (positions.has(one.position)) return;
		positions.add(one.position);
		this.#chosen.set(one.source, positions);
		this.#said.push(one.unit.terms);
		this.#sentences++;
		this.#words += one.unit.words;
	}

	#isChosen(one: ScoredUnit): boolean {
		return this.#chosen.get(one.source)?.has(one.position) ?? false;
	}

	#isSaid(terms: ReadonlySet<string>): boolean {
		return this.#said.some((said) => {
			let common = 0;
			for (const term of terms) if (said.has(term)) common++;
			return common >= SAME * terms.size;
		});
	}

	#at(one: ScoredUnit, offset: number): ScoredUnit | undefined {
		return this.#byPlace.get(one.source)?.[one.position + offset];
	}

	#unitAt(one: ScoredUnit, position: number): ScoredUnit {
		return (this.#byPlace.get(one.source) as ScoredUnit[])[position] as ScoredUnit;
	}
}

function sameBlock(a: ScoredUnit, b: ScoredUnit): boolean {
	return a.unit.block === b.unit.block;
}
