import { toSingleLine } from './blocks.ts';
import { labelOf, MAX_SPANNED_COLUMNS, spannedColumns, type TableRow } from './table-blocks.ts';

/** The rows from which it is decided whether the first one names the columns. */
const HEADER_SAMPLE_ROWS = 50;

/**
 * Marks the header rows of a table: its first row if `isHeader` says so of its rows and no row is marked, and the row after a header with a
 * name over several columns if it divides only those. Rows that name the table or a group of rows are passed over.
 */
export function markHeaders(rows: readonly TableRow[], isHeader: (rows: readonly string[][]) => boolean): void {
	const sample: TableRow[] = [];
	for (const row of rows) {
		if (sample.length === HEADER_SAMPLE_ROWS) break;
		if (labelOf(row.cells) === null && row.cells.some(({ text }) => text !== '')) sample.push(row);
	}
	const [first, second, third] = sample;
	if (first === undefined) return;
	if (!rows.some((row) => row.isHeader)) first.isHeader = isHeader(sample.map(columnsOf));
	if (first.isHeader && second !== undefined && third !== undefined && !second.isHeader)
		second.isHeader = dividesNames(first, second);
}

/** The texts of a row, with that of a spanning cell in each of its columns. */
function columnsOf({ cells }: TableRow): string[] {
	const texts: string[] = [];
	for (const { text, columns } of cells) {
		const end = Math.min(texts.length + spannedColumns(columns), MAX_SPANNED_COLUMNS);
		while (texts.length < end) texts.push(text);
	}
	return texts;
}

/** Whether a row has texts without digits under those names of a header that stand over several columns, and none elsewhere. */
function dividesNames(header: TableRow, row: TableRow): boolean {
	const isDivided: boolean[] = [];
	for (const { columns, rows } of header.cells) {
		// It also stands in the next row.
		if (rows > 1) continue;
		for (let column = 0; column < spannedColumns(columns); column++) isDivided.push(columns > 1);
	}
	let divided = 0;
	let column = 0;
	for (const { text, columns } of row.cells) {
		if (text !== '' && isDivided[column] !== true) return false;
		if (/\p{Nd}/u.test(text) || text.length > MAX_NAME_CHARACTERS) return false;
		if (text !== '') divided++;
		column += columns;
	}
	return divided > 1;
}

/** A longer text is no name of a column. */
const MAX_NAME_CHARACTERS = 60;

/**
 * Whether a first row without any mark names the columns: its first cell is empty and the one below it is not, and its other cells
 * are short texts.
 */
export function looksLikeHeader([first, second]: readonly string[][]): boolean {
	if (first === undefined || second === undefined || first.length < 2) return false;
	const [corner = '', ...names] = first.map(toSingleLine);
	if (names.some((name) => name === '' || name.length > MAX_NAME_CHARACTERS)) return false;
	return corner === '' && second[0] !== undefined && second[0] !== '';
}

/** Whether a cell is an amount, a number, a date, or an address of mail or of a page. */
export function isValue(cell: string): boolean {
	return CONTACT.test(cell) || (/\p{Nd}/u.test(cell) && !/\p{L}{2}/u.test(cell));
}

const CONTACT = /\S@\S|^(?:https?:\/\/|www\.)/i;

/** Whether a cell may name a column or a group of rows: it is no value, but a year may be one. */
export function isName(cell: string): boolean {
	return !isValue(cell) || /^(?:19|20)\d\d$/.test(cell);
}

/** Whether a table without marks lists one thing, a name and a value in each row: some values are addresses, and others are not. */
export function looksLikePairs(rows: readonly string[][]): boolean {
	const values: string[] = [];
	for (const row of rows.slice(0, HEADER_SAMPLE_ROWS)) {
		if (row.length > 2) return false;
		if (row[1]) values.push(row[1]);
	}
	// The first one may be the name of a column of addresses.
	const contacts = values.slice(1).filter((value) => CONTACT.test(value)).length;
	return CONTACT.test(values[0] ?? '') || (contacts > 0 && contacts < values.length - 1);
}

/**
 * Whether the rows after the first one show that it names the columns: a column has a name without digits, and all its values
 * have digits. Telephone numbers are no evidence, because they also stand in lists of pairs.
 */
export function hasColumnOfValues(rows: readonly string[][]): boolean {
	const [names = [], ...others] = rows;
	return names.some((name, column) => {
		const values = others.flatMap((row) => row[column] || []);
		const isColumn = values.length > 0 && values.every((value) => /\p{Nd}/u.test(value) && !TELEPHONE.test(value));
		return column > 0 && isColumn && !/\p{Nd}/u.test(name);
	});
}

const TELEPHONE = /^[+(]?\d(?:[\s()/-]*\d){5,}$/;
