/** A longer quoted value has a quote that is not closed. */
const MAX_QUOTED_CHARACTERS = 256 * 1024;
/** After so many quotes that are not closed, quotes are text: the search for each takes time. */
const MAX_UNCLOSED_QUOTES = 100;

/**
 * The values of each record of a table (RFC 4180), one record at a time. Spaces around quotes are not part of a value. A quote that is
 * not closed, or that text follows, is text, and its value ends with its line.
 *
 * csv-parse is not used: it takes ten times as long, and two hundred times for records of different lengths, because it creates an
 * error for each.
 */
export function* csvRecords(text: string, delimiter: string): Generator<string[]> {
	const lastQuote = text.lastIndexOf('"');
	let unclosed = 0;
	let values: string[] = [];
	for (let at = 0; at < text.length; ) {
		const open = startOfValue(text, at, delimiter);
		let quoted: QuotedValue | null = null;
		if (text[open] === '"' && open < lastQuote && unclosed < MAX_UNCLOSED_QUOTES) {
			quoted = quotedValue(text, open, delimiter);
			if (quoted === null) unclosed++;
		}
		const end = quoted?.end ?? endOfValue(text, at, delimiter);
		values.push(quoted?.value ?? text.slice(at, end));
		at = end + 1;
		if (text[end] === delimiter) {
			if (at < text.length) continue;
			values.push('');
		}
		yield values;
		values = [];
	}
}

/** The first character of a value that is no space. A tab is one unless it divides values. */
function startOfValue(text: string, from: number, delimiter: string): number {
	let at = from;
	while (text[at] === ' ' || (text[at] === '\t' && delimiter !== '\t')) at++;
	return at;
}

function endOfValue(text: string, from: number, delimiter: string): number {
	let end = from;
	while (end < text.length && text[end] !== delimiter && text[end] !== '\n') end++;
	return end;
}

interface QuotedValue {
	value: string;
	/** The position of the delimiter or line break after it. */
	end: number;
}

/** The value from an opening quote to the closing one; null without a closing one. Two quotes in it stand for one. */
function quotedValue(text: string, open: number, delimiter: string): QuotedValue | null {
	let value = '';
	for (let from = open + 1; ; ) {
		const quote = text.indexOf('"', from);
		if (quote === -1 || quote - open > MAX_QUOTED_CHARACTERS) return null;
		value += text.slice(from, quote);
		if (text[quote + 1] === '"') {
			value += '"';
			from = quote + 2;
			continue;
		}
		const end = startOfValue(text, quote + 1, delimiter);
		const isClosed = end >= text.length || text[end] === delimiter || text[end] === '\n';
		return isClosed ? { value, end } : looseValue(text, open, quote, delimiter);
	}
}

/** A value in which text follows the closing quote; null if the quotes are on different lines. */
function looseValue(text: string, open: number, close: number, delimiter: string): QuotedValue | null {
	if (text.slice(open, close).includes('\n')) return null;
	const end = endOfValue(text, close, delimiter);
	return { value: text.slice(open, end), end };
}
