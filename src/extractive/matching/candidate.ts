import type { Table, Unit } from '../reading/passage-reading.ts';
import type { Source } from './source.ts';
import type { Matches, TermSpace } from './term-space.ts';

/** The cells of a table that answer: rows by columns. */
export interface TableSelection {
	table: Table;
	rows: readonly number[];
	columns: readonly number[];
	/** The rows stand for columns of one value each, so only the chosen columns are shown. */
	isWholeRow: boolean;
}

/** A part of a passage that may answer. */
export interface Candidate {
	source: Source;
	space: TermSpace;
	/** What it is: a unit with its position, or a selection of a table. */
	part: { unit: Unit; position: number } | { selection: TableSelection };
	/** The matches in its text and labels. */
	own: Matches;
	/** The matches in its context, too. */
	all: Matches;
	/** How well its labels fit the question, 0..1; 0 without labels. */
	labelFit: number;
	/** How well the heading or question above it fits, 0..1. */
	topicFit: number;
	/** Whether it has what an answer of the asked type contains; null if no type is asked. */
	hasType: boolean | null;
	/** Whether it has the codes that the question names. */
	hasCodes: boolean;
	/** How well it answers. Comparable within one question only. */
	score: number;
}
