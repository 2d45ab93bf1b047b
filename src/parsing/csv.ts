import type { ExtractedDocument } from './blocks.ts';
import { csvRecords } from './csv-records.ts';
import { TextBudget } from './limits.ts';
import { type SheetRow, sheetBlocks } from './sheet-blocks.ts';

/** In order of preference where a sample fits several. Commas also stand in numbers and in texts. */
const DELIMITERS = ['\t', ';', '|', ','];
/** The text from which the delimiter is detected. */
const SAMPLE_CHARACTERS = 64 * 1024;
const SAMPLE_RECORDS = 100;

/**
 * Reads a table of values that are separated by commas, semicolons, tabs or bars (RFC 4180). Quoted values may have line breaks.
 */
export function parseCsv(text: string): ExtractedDocument {
	// Excel names the delimiter in the first line.
	const named = /^sep=([^"\n])\n/i.exec(text);
	const body = named === null ? text : text.slice(named[0].length);
	const delimiter = named?.[1] ?? delimiterOf(body);
	const blocks = sheetBlocks(rowsOf(csvRecords(body, delimiter)), new TextBudget());
	return { format: 'csv', title: null, declared_language: null, page_count: null, blocks };
}

/** The delimiter that divides most records of the sample into the same number of values. */
function delimiterOf(text: string): string {
	const sample = text.slice(0, SAMPLE_CHARACTERS);
	let best = { delimiter: ',', share: 0 };
	for (const delimiter of DELIMITERS) {
		const counts = new Map<number, number>();
		let records = 0;
		for (const values of csvRecords(sample, delimiter)) {
			if (values.length === 1 && values[0] === '') continue;
			counts.set(values.length, (counts.get(values.length) ?? 0) + 1);
			if (++records === SAMPLE_RECORDS) break;
		}
		counts.delete(1);
		const share = Math.max(0, ...counts.values()) / Math.max(1, records);
		if (share > best.share) best = { delimiter, share };
	}
	return best.delimiter;
}

function* rowsOf(records: Iterable<string[]>): Generator<SheetRow> {
	for (const cells of records) yield { cells, isMerged: false };
}
