import type { ExtractedDocument } from './blocks.ts';
import { TextBudget } from './limits.ts';
import { sheetBlocks } from './sheet-blocks.ts';

/** In order of preference where a sample fits several. */
const DELIMITERS = [',', ';', '\t', '|'];
/** The text from which the delimiter is detected. */
const SAMPLE_CHARACTERS = 64 * 1024;
const SAMPLE_RECORDS = 100;

/**
 * Reads a table of values that are separated by commas, semicolons, tabs or bars (RFC 4180). Quoted values may have line breaks.
 */
export function parseCsv(text: string): ExtractedDocument {
	// Excel names the delimiter in the first line.
	const named = /^sep=(.)\n/i.exec(text);
	const body = named === null ? text : text.slice(named[0].length);
	const delimiter = named?.[1] ?? delimiterOf(body);
	const blocks = sheetBlocks(recordsOf(body, delimiter), new TextBudget());
	return { format: 'csv', title: null, declared_language: null, page_count: null, blocks };
}

/** The delimiter that divides most records of the sample into the same number of values. */
function delimiterOf(text: string): string {
	const sample = text.slice(0, SAMPLE_CHARACTERS);
	let best = { delimiter: ',', share: 0 };
	for (const delimiter of DELIMITERS) {
		const counts = new Map<number, number>();
		let records = 0;
		for (const values of recordsOf(sample, delimiter)) {
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

/** The values of each record, one record at a time. A quote that is not closed ends with the text. */
function* recordsOf(text: string, delimiter: string): Generator<string[]> {
	let values: string[] = [];
	for (let at = 0; at < text.length; ) {
		let value: string;
		if (text[at] === '"') {
			const quoted = quotedValue(text, at);
			value = quoted.value;
			at = quoted.end;
		} else value = '';
		const end = endOfValue(text, at, delimiter);
		value += text.slice(at, end);
		values.push(value);
		at = end + 1;
		if (text[end] === delimiter) {
			if (at < text.length) continue;
			values.push('');
		}
		yield values;
		values = [];
	}
}

function endOfValue(text: string, from: number, delimiter: string): number {
	let end = from;
	while (end < text.length && text[end] !== delimiter && text[end] !== '\n') end++;
	return end;
}

/** The value from an opening quote to the closing one. Two quotes in it stand for one. */
function quotedValue(text: string, open: number): { value: string; end: number } {
	let value = '';
	for (let from = open + 1; ; ) {
		const quote = text.indexOf('"', from);
		if (quote === -1) return { value: value + text.slice(from), end: text.length };
		value += text.slice(from, quote);
		if (text[quote + 1] !== '"') return { value, end: quote + 1 };
		value += '"';
		from = quote + 2;
	}
}
