/** Beginnings of cells that spreadsheets read as formulas (OWASP, CSV Injection), in full-width forms too. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** A line of a CSV file (RFC 4180). A cell that a spreadsheet would read as a formula becomes a text by an apostrophe. */
export function csvLine(cells: readonly (string | null)[]): string {
	return `${cells.map((cell) => csvCell(cell ?? '')).join(',')}\r\n`;
}

function csvCell(text: string): string {
	const inert = FORMULA.test(text) ? `'${text}` : text;
	return `"${inert.replaceAll('"', '""')}"`;
}
