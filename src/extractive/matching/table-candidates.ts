import { matchesAnswerType } from '../question/answer-forms.ts';
import type { AnswerType } from '../question/answer-type-cues.ts';
import { codesIn } from '../question/question.ts';
import { hasClock } from '../question/values.ts';
import type { Cell, Table } from '../reading/passage-reading.ts';
import { rangeMatch } from '../reading/ranges.ts';
import type { Candidate, TableSelection } from './candidate.ts';
import { hasCodesOf, withCodes } from './codes.ts';
import { namesAbove, type Source } from './source.ts';
import { better, type Matches, scaled, type TermSpace, weightedShare } from './term-space.ts';
import { FAR_WEIGHT, NEAR_WEIGHT, rangeFactor, withTypeWords } from './unit-candidates.ts';

/** Cells that do not name the row select it less surely. */
const CELL_WEIGHT = 0.8;
const OTHER_CELL_FIT = 0.5;
const LABEL_BONUS = 0.3;
/** Under a heading that is the question. */
const TOPIC_BONUS = 0.4;
/** A whole row of many values says more than was asked. */
const WIDE_ROW_FACTOR = 0.85;
const MAX_ASKED_COLUMNS = 3;
const ANSWER_TYPE_BONUS = 0.2;
const MISSING_TYPE_FACTOR = 0.6;
/** A column whose match is better by less than this is not named. */
const MIN_GAIN = 0.05;
/** A named column whose value is what the question asks for. */
const TYPE_GAIN = 0.15;
/** A column whose name is a range with the number of the question. */
const RANGE_GAIN = 0.3;
/** A match of a whole word, a synonym or a part of a compound. */
const SURE_MATCH = 0.75;
/** More rows and cells are too many to compare. */
const MAX_COMPARED_ROWS = 8;
const MAX_SHOWN_CELLS = 24;
/** Rows of a long table that are compared in one step. */
const ROWS_PER_STEP = 20;
/** Rows whose names fit the question by less than this are named equally well. */
const MIN_FIT_DIFFERENCE = 1e-6;

/**
 * The candidates of a table: for each row the columns that the question names. A row is selected by its cells, a column by its
 * name, so that a value never stands under the name of another row or column.
 */
export function* tableCandidates(space: TermSpace, source: Source, table: Table): Generator<void, Candidate[]> {
	const cells: Matches[][] = [];
	for (const [at, row] of table.rows.entries()) {
		cells.push(row.map(({ text, terms }) => withCodes(space.matchesIn(terms), text, space)));
		if (at % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
	}
	return yield* new TableMatcher(space, source, table, cells).candidates();
}

class TableMatcher {
	readonly #space: TermSpace;
	readonly #source: Source;
	readonly #table: Table;
	readonly #types: readonly AnswerType[];
	/** By row, by column. */
	readonly #cells: Matches[][];
	readonly #header: Matches[];
	/** The names of the columns that name the rows. */
	readonly #labelHeader: Matches;
	readonly #context: Matches;
	readonly #shownContext: Matches;

	constructor(space: TermSpace, source: Source, table: Table, cells: Matches[][]) {
		this.#space = space;
		this.#source = source;
		this.#table = table;
		this.#types = [...space.question.answerTypes].filter((type) => type !== 'steps');
		this.#cells = cells;
		this.#header = table.header?.map(({ terms }) => space.matchesIn(terms)) ?? [];
		this.#labelHeader = better(
			space.terms.map(() => 0),
			...this.#header.slice(0, table.labelColumns),
		);
		const near = space.matchesIn(table.nearTerms);
		const far = space.matchesIn(table.farTerms);
		this.#context = better(near, far);
		this.#shownContext = better(scaled(near, NEAR_WEIGHT), scaled(far, FAR_WEIGHT));
	}

	*candidates(): Generator<void, Candidate[]> {
		const compared = this.#space.question.isComparison ? this.#comparedRows() : [];
		yield;
		const rows: Candidate[] = [];
		for (const { rows: named, columns } of yield* this.#namedRows()) {
			rows.push(this.#candidateOf(named, columns));
			if (rows.length % ROWS_PER_STEP === 0) yield;
		}
		if (compared.length < 2) return rows;
		const columns = this.#columnsOf(compared[0] as number);
		return columns.length === this.#valueColumns(compared[0] as number).length && columns.length > 2
			? rows
			: [...rows, this.#candidateOf(compared, columns)];
	}

	/**
	 * The rows that answer, with their columns. Rows that the question names equally well answer together: all rows of a column whose
	 * row it does not name, or two rows of the same day. If they are too many, the table has no answer: each choice would be
	 * arbitrary.
	 */
	*#namedRows(): Generator<void, Array<{ rows: number[]; columns: number[] }>> {
		const found: Array<{ row: number; columns: number[]; fit: number }> = [];
		for (const row of this.#table.rows.keys()) {
			const columns = this.#columnsOf(row);
			if (columns.length > 0) found.push({ row, columns, fit: this.#namedFit(row, columns) });
			if (row % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
		}
		const best = Math.max(...found.map(({ fit }) => fit));
		const equal = found.filter(({ fit }) => fit > best - MIN_FIT_DIFFERENCE);
		const others = found
			.filter(({ fit }) => fit <= best - MIN_FIT_DIFFERENCE)
			.map(({ row, columns }) => ({ rows: [row], columns }));
		if (equal.length < 2) return [...equal.map(({ row, columns }) => ({ rows: [row], columns })), ...others];
		const columns = [...new Set(equal.flatMap((one) => one.columns))].sort((a, b) => a - b);
		if (equal.length > MAX_COMPARED_ROWS || equal.length * columns.length > MAX_SHOWN_CELLS) return [];
		return [{ rows: equal.map(({ row }) => row), columns }, ...others];
	}

	/** How well the question names a row by its labels, its ranges and the cells that do not answer. */
	#namedFit(row: number, columns: readonly number[]): number {
		const isWholeRow = columns.length === this.#valueColumns(row).length;
		const matches = this.#rowMatches(row, isWholeRow && columns.length > 1 ? [] : columns);
		const labels = (this.#table.rows[row] as Cell[]).slice(0, this.#table.labelColumns);
		const labelFit = Math.max(0, ...labels.map(({ terms }) => this.#space.fit(terms)));
		return (weightedShare(matches, this.#space.ranking) + LABEL_BONUS * labelFit) * this.#rangeFactor([row], columns);
	}

	/** The columns of values. The first columns name the row. */
	#valueColumns(row: number): number[] {
		const { rows, labelColumns } = this.#table;
		return (rows[row] as Cell[]).flatMap(({ text }, column) => (column >= labelColumns && text !== '' ? [column] : []));
	}

	/** The columns of a row that the question asks for: by their names, else by the type of their values, else all. */
	#columnsOf(row: number): number[] {
		const { ranking } = this.#space;
		const values = this.#valueColumns(row);
		const { codes } = this.#space.question;
		if (values.length < 2 || this.#areHours(row, values)) return values;
		if (codes.length > 0) {
			// A code stands for its column, or for its whole row: its cause and its remedy.
			const coded = values.filter((column) =>
				codesIn(this.#table.header?.[column]?.text ?? '').some((code) => codes.includes(code)),
			);
			return coded.length > 0 ? coded : values;
		}
		const gains = values.map((column) => {
			const gain = gainOf(this.#header[column], this.#rowMatches(row, [column]), ranking);
			const range = rangeMatch(this.#table.header?.[column]?.ranges ?? [], this.#space.question.quantities);
			return (
				gain +
				0.1 * this.#nameFit(column) * Math.min(1, gain * 10) +
				RANGE_GAIN * range +
				(gain > MIN_GAIN && this.#hasType(row, [column]) ? TYPE_GAIN : 0)
			);
		});
		const best = Math.max(...gains);
		if (best > MIN_GAIN) {
			const named = values.filter((_, i) => (gains[i] as number) > MIN_GAIN);
			if (this.#space.question.isComparison && this.#areNamedApart(named)) return named;
			// A column that fits as well is meant as well.
			return values.filter((_, i) => (gains[i] as number) > best - 0.01);
		}
		const typed = values.filter((column) => this.#hasType(row, [column]));
		return typed.length === 1 ? typed : values;
	}

	/** `Are you open today?` asks for all times of the row of that day. */
	#areHours(row: number, values: readonly number[]): boolean {
		const { day, asksWholeDay } = this.#space.question;
		if (!day || !asksWholeDay || !this.#namesDay(row) || this.#namesColumn(values)) return false;
		return values.every((column) => hasClock(this.#table.rows[row]?.[column]?.text ?? ''));
	}

	/** Whether a word that asks for no time names a column: `Is the pool open today?` beside a column of the sauna. */
	#namesColumn(columns: readonly number[]): boolean {
		const { terms } = this.#space;
		return columns.some((column) =>
			this.#header[column]?.some(
				(match, i) => match >= SURE_MATCH && terms[i]?.asksFor.length === 0 && !terms[i]?.days,
			),
		);
	}

	#namesDay(row: number): boolean {
		const at = this.#space.terms.findIndex(({ days }) => days !== undefined);
		return (this.#cells[row] ?? []).slice(0, this.#table.labelColumns).some((match) => (match[at] ?? 0) === 1);
	}

	/** Whether each of the columns has a word of the question that no other one has. */
	#areNamedApart(columns: readonly number[]): boolean {
		return columns.every((column) =>
			(this.#header[column] ?? []).some(
				(match, i) =>
					match >= SURE_MATCH && columns.every((other) => other === column || (this.#header[other]?.[i] ?? 0) < match),
			),
		);
	}

	/** The rows that a comparison names, each by a word of its own; all rows of a short table if it names none. */
	#comparedRows(): number[] {
		const rows = new Set<number>();
		let isNamed = false;
		for (let i = 0; i < this.#space.terms.length; i++) {
			const matching = this.#cells.flatMap((cells, row) =>
				cells.slice(0, this.#table.labelColumns).some((match) => (match[i] as number) >= SURE_MATCH) ? [row] : [],
			);
			if (matching.length > 0 && matching.length < this.#cells.length) isNamed = true;
			if (matching.length === 1) rows.add(matching[0] as number);
		}
		if (!isNamed && this.#cells.length <= MAX_COMPARED_ROWS) return this.#cells.map((_, row) => row);
		return [...rows].sort((a, b) => a - b);
	}

	/** The matches of the cells that select a row: its labels, and the other cells but those that answer. */
	#rowMatches(row: number, columns: readonly number[]): number[] {
		const { labelColumns } = this.#table;
		return better(
			this.#labelHeader,
			this.#rangeMatches(row),
			...(this.#cells[row] as Matches[]).flatMap((match, column) =>
				column < labelColumns ? [match] : columns.includes(column) ? [] : [scaled(match, CELL_WEIGHT)],
			),
		);
	}

	/** A number of the question is in the range that names the row. */
	#rangeMatches(row: number): number[] {
		const labels = (this.#table.rows[row] as Cell[]).slice(0, this.#table.labelColumns);
		const isInside = labels.some(({ ranges }) => rangeMatch(ranges, this.#space.question.quantities) === 1);
		return this.#space.terms.map(({ term }) => (isInside && /^\p{Nd}+$/u.test(term) ? 1 : 0));
	}

	#nameFit(column: number): number {
		const { header } = this.#table;
		const name = header?.[column];
		// A word that several names have does not tell them apart.
		const shareOf = (word: string) => 1 / (header ?? []).filter(({ terms }) => terms.has(word)).length;
		return name === undefined ? 0 : this.#space.fit(name.terms, shareOf);
	}

	#rowFit(row: number): number {
		const cells = this.#table.rows[row] as Cell[];
		const labels = new Set(cells.slice(0, this.#table.labelColumns).flatMap(({ terms }) => [...terms]));
		const others = cells.slice(this.#table.labelColumns).map(({ terms }) => OTHER_CELL_FIT * this.#space.fit(terms));
		return Math.max(this.#space.fit(labels), ...others);
	}

	#rangeFactor(rows: readonly number[], columns: readonly number[]): number {
		const { header, rows: all, labelColumns } = this.#table;
		const labels = rows.flatMap((row) => (all[row] as Cell[]).slice(0, labelColumns));
		const named = columns.length === 1 ? (header?.[columns[0] as number]?.ranges ?? []) : [];
		return rangeFactor([...labels.flatMap(({ ranges }) => ranges), ...named], this.#space.question);
	}

	#hasType(row: number, columns: readonly number[]): boolean {
		const { header, rows } = this.#table;
		return columns.some((column) => {
			const value = rows[row]?.[column]?.text ?? '';
			const name = header?.[column]?.text ?? '';
			return this.#types.some((type) => matchesAnswerType(type === 'price' ? `${value} ${name}` : value, type));
		});
	}

	/** The rows with the names of their columns. */
	#textOf(rows: readonly number[], columns: readonly number[]): string {
		const names = columns.map((column) => this.#table.header?.[column]?.text ?? '');
		return [...names, ...rows.flatMap((row) => (this.#table.rows[row] as Cell[]).map(({ text }) => text))].join(' ');
	}

	#candidateOf(rows: readonly number[], columns: readonly number[]): Candidate {
		const { question, ranking } = this.#space;
		const [first] = rows as [number];
		const isWholeRow = columns.length === this.#valueColumns(first).length;
		const hasType = this.#types.length === 0 ? null : rows.some((row) => this.#hasType(row, columns));
		const names = columns.map((column) => this.#header[column] ?? this.#context.map(() => 0));
		const answering = isWholeRow && columns.length > 1 ? [] : columns;
		const found = better(...rows.map((row) => this.#rowMatches(row, answering)), ...names);
		const own = withTypeWords(found, this.#space, hasType);
		const rowFit = Math.max(...rows.map((row) => this.#rowFit(row)));
		const columnFit = isWholeRow ? 0 : Math.max(0, ...columns.map((column) => this.#nameFit(column)));
		const labelFit = columnFit === 0 ? rowFit : (rowFit + columnFit) / 2;
		const share = weightedShare(better(own, this.#shownContext), ranking);
		const typeFactor = hasType === null ? 1 : hasType ? 1 + ANSWER_TYPE_BONUS : MISSING_TYPE_FACTOR;
		const topicFit = this.#space.similarity(this.#table.topicTerms);
		const selection: TableSelection = { table: this.#table, rows, columns, isWholeRow };
		return {
			source: this.#source,
			space: this.#space,
			part: { selection },
			own,
			all: better(own, this.#context),
			labelFit,
			topicFit,
			hasType,
			hasCodes: hasCodesOf(question, [this.#textOf(rows, columns), this.#table.topic, ...namesAbove(this.#source)]),
			score:
				(share + LABEL_BONUS * labelFit + TOPIC_BONUS * topicFit) *
				typeFactor *
				this.#rangeFactor(rows, columns) *
				(columns.length > MAX_ASKED_COLUMNS && !question.isComparison ? WIDE_ROW_FACTOR : 1),
		};
	}
}

/** By how much the matches of a name are better than those that are there without it, by weight. */
function gainOf(name: Matches | undefined, without: Matches, weights: readonly number[]): number {
	if (name === undefined) return 0;
	return weightedShare(
		name.map((match, i) => Math.max(0, match - (without[i] as number))),
		weights,
	);
}
