import type { Passage } from '../chat-model.ts';
import { hasKind } from './answer-kinds.ts';
import { askingWords } from './asking-words.ts';
import { matchesOf } from './matching.ts';
import type { AskedTerm, Question } from './question.ts';
import type { ReadPassage, Unit } from './reading.ts';

/** A passage with what was read in it. */
export interface Source {
	passage: Passage;
	read: ReadPassage;
}

/** A unit with its place and its marks. */
export interface ScoredUnit {
	source: Source;
	unit: Unit;
	/** Its position among the units of its passage. */
	position: number;
	/** How well it answers; comparable within one question only. */
	score: number;
	/** Share of what the question asks that the unit says together with its surroundings, 0..1, in absolute terms. */
	evidence: number;
	/** Whether it or what stands over it has a word of the question (of the one before, where it has none of its own). */
	shares: boolean;
}

/** How far words count that stand not in the unit but over it, or next to it. */
const OVER = 0.9;
const BESIDE = 0.4;

/** The share of the mark that the search's own order of passages decides. */
const PASSAGE_SHARE = 0.6;
const WANTED_BONUS = 0.2;
const STEP_BONUS = 0.4;
/** A number of the very things that are counted says more than any other number. */
const COUNT_BONUS = 0.5;
/** Under a heading that puts the very question, as in a list of frequent ones, the first sentences are the answer. */
const TITLED_BONUS = 0.7;
const TITLED_UNITS = 6;
const ALIKE = 0.5;
const ANNOUNCES_FACTOR = 0.3;
const STUMP_FACTOR = 0.6;
/** What only its heading connects with the question comes after what speaks of it itself. */
const SILENT_FACTOR = 0.75;
const SHORTEST = 4;

/** Marks every unit of the passages against the question. Units of languages that it has no words in get none. */
export function scoreUnits(question: Question, sources: readonly Source[]): ScoredUnit[] {
	const scored: ScoredUnit[] = [];
	for (const language of new Set(sources.map((source) => source.read.language))) {
		const own = sources.filter((source) => source.read.language === language);
		const asked = question.termsIn(language);
		if (asked.length > 0) scored.push(...scoreInLanguage(question, asked, own, language));
	}
	const best = Math.max(...sources.map((source) => source.passage.score), Number.EPSILON);
	for (const one of scored) {
		one.score *= 1 - PASSAGE_SHARE + PASSAGE_SHARE * Math.max(0, one.source.passage.score / best);
	}
	return scored;
}

function scoreInLanguage(
	question: Question,
	asked: readonly AskedTerm[],
	sources: readonly Source[],
	language: string | null,
): ScoredUnit[] {
	const units = sources.flatMap((source) => source.read.units.map((unit, position) => ({ source, unit, position })));
	const vocabulary = new Set<string>();
	for (const { unit } of units) {
		for (const term of unit.terms) vocabulary.add(term);
		for (const term of unit.over) vocabulary.add(term);
	}
	const matches = matchesOf(asked, vocabulary, language);
	const inside = units.map(({ unit }) => matches.map((match) => bestMatch(match, unit.terms)));
	const rarity = matches.map((_, i) => rarityOf(inside, i));
	// Which words tell sentences apart is one thing, what the question is about another: all passages were found by its
	// subject, which is therefore common among them, and yet an answer must speak of it.
	const ranking = asked.map(({ weight }, i) => weight * (rarity[i] as number));
	const subject = asked.map(({ weight }, i) => weight * (0.5 + 0.5 * (rarity[i] as number)));
	const asking = askingWords(language).none;
	const likeness = new Map(
		sources.map((source) => {
			const values = source.read.headings.map((heading) => alikeness(matches, ranking, heading, asking));
			return [source, Math.max(...values)];
		}),
	);
	const onlyCarried = asked.every((term) => term.carried);
	return units.map(({ source, unit, position }, at) => {
		const own = inside[at] as number[];
		const over = matches.map((match) => bestMatch(match, unit.over));
		const before = continues(unit, source.read.units[position - 1]) ? inside[at - 1] : null;
		const after = continues(unit, source.read.units[position + 1]) ? inside[at + 1] : null;
		const beside = own.map((_, i) => Math.max(before?.[i] ?? 0, after?.[i] ?? 0));
		const said = own.map((value, i) => Math.max(value, OVER * (over[i] as number), BESIDE * (beside[i] as number)));
		const near = own.map((value, i) => Math.max(value, over[i] as number, beside[i] as number));
		const alike = likeness.get(source) as number;
		const asTitled = alike * TITLED_BONUS * Math.max(0, 1 - position / TITLED_UNITS);
		const silent = alike < ALIKE && unit.lead === null && own.every((value) => value === 0);
		return {
			source,
			unit,
			position,
			score: (share(said, ranking) + asTitled) * formFactor(unit, question) * (silent ? SILENT_FACTOR : 1),
			evidence: share(near, subject),
			shares: asked.some(
				({ carried }, i) => (onlyCarried || !carried) && ((own[i] as number) > 0 || (over[i] as number) > 0),
			),
		};
	});
}

/** Whether two neighbours are of one paragraph. The lines of a list or table stand each for itself. */
function continues(unit: Unit, neighbour: Unit | undefined): boolean {
	return unit.kind === 'sentence' && neighbour?.block === unit.block;
}

function bestMatch(match: Map<string, number>, terms: ReadonlySet<string>): number {
	let best = 0;
	for (const [word, value] of match) if (value > best && terms.has(word)) best = value;
	return best;
}

/**
 * How alike question and heading are, 0..1: the harmonic mean of the share of the question, by weight, that the heading
 * says, and of the share of the heading that the question says.
 */
function alikeness(
	matches: Array<Map<string, number>>,
	weights: number[],
	heading: ReadonlySet<string>,
	asking: ReadonlySet<string>,
): number {
	const words = [...heading].filter((word) => !asking.has(word)).length;
	const said = matches.map((match) => bestMatch(match, heading));
	const ofQuestion = share(said, weights);
	const ofHeading = words === 0 ? 0 : Math.min(1, said.reduce((sum, value) => sum + value, 0) / words);
	return ofQuestion + ofHeading === 0 ? 0 : (2 * ofQuestion * ofHeading) / (ofQuestion + ofHeading);
}

/** 0..1, 1 for a term that no unit holds: BM25's idf over the units, by its largest value. */
function rarityOf(inside: number[][], term: number): number {
	const count = inside.length;
	let holding = 0;
	for (const own of inside) if ((own[term] as number) > 0) holding++;
	const idf = (n: number) => Math.log(1 + (count - n + 0.5) / (n + 0.5));
	return idf(holding) / idf(0);
}

function share(values: number[], weights: number[]): number {
	let sum = 0;
	let all = 0;
	for (let i = 0; i < values.length; i++) {
		sum += (values[i] as number) * (weights[i] as number);
		all += weights[i] as number;
	}
	return all === 0 ? 0 : sum / all;
}

/** What the form of a unit says for or against it as an answer. */
function formFactor(unit: Unit, question: Question): number {
	let factor = question.count?.test(unit.text) ? 1 + COUNT_BONUS : 1;
	for (const kind of question.wants) {
		if (hasKind(unit.text, kind)) factor += WANTED_BONUS;
		if (kind === 'steps' && unit.number !== null) factor += STEP_BONUS;
	}
	if (unit.announces) factor *= ANNOUNCES_FACTOR;
	if (unit.kind === 'sentence' && unit.words < SHORTEST) factor *= STUMP_FACTOR;
	return factor;
}
