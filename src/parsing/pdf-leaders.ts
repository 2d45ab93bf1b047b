import type { Line } from './pdf-lines.ts';

/**
 * Dots that lead the eye from a name to its value. Neither the name (but for the dot of an abbreviation) ends nor the value begins with a
 * dot: a leader is tried once for each run of dots, not for each dot.
 */
const LEADER = /^(.*?[^\s.…_]\.??)\s?(?:\.{4,}|(?:\. ){3,}\.?|…{2,}|(?: ?…){2,}|_{4,})\s*([^\s.…_].{0,40})?$/u;
const MAX_LINE_CHARS = 400;
/** A table of contents has at least this many lines, one after the other. */
const MIN_CONTENTS_LINES = 3;
const PAGE_NUMBER = /^(?:\d{1,4}|[ivxl]{1,7})$/i;

/**
 * Removes leaders of dots, in place. In a table of contents the page number goes with them; elsewhere the value behind the dots becomes a
 * piece of its own, as in a table.
 */
export function removeLeaders(lines: readonly Line[]): void {
	const found = lines.map((line) => (line.text.length > MAX_LINE_CHARS ? null : LEADER.exec(line.text)));
	for (let start = 0; start < lines.length; start++) {
		if (!found[start]) continue;
		let end = start;
		while (found[end]) end++;
		const values = found.slice(start, end).map((match) => match?.[2] ?? '');
		const isContents =
			end - start >= MIN_CONTENTS_LINES && values.every((value) => value === '' || PAGE_NUMBER.test(value));
		for (let at = start; at < end; at++)
			replaceLeader(lines[at] as Line, found[at]?.[1] ?? '', isContents ? '' : (values[at - start] ?? ''));
		start = end;
	}
}

function replaceLeader(line: Line, name: string, value: string): void {
	line.text = value === '' ? name : `${name} ${value}`;
	const { left, right, size } = line;
	const valueLeft = right - Math.min(0.5 * (right - left), value.length * 0.5 * size);
	line.pieces =
		value === ''
			? [{ text: name, left, right: left + (right - left) / 2 }]
			: [
					{ text: name, left, right: Math.min(valueLeft - 2 * size, left + name.length * 0.5 * size) },
					{ text: value, left: valueLeft, right },
				];
	if (value === '') line.right = left + (right - left) / 2;
}
