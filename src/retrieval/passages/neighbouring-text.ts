import { sentences } from '../../text/index.ts';

/** Characters of a neighbouring chunk at most. */
const MAX_CHARS = 500;
/** A longer line is a paragraph. */
const MAX_LINE_CHARS = 200;

/**
 * The end of the chunk before a chunk of the same section: whole lines or sentences, without those that the chunk repeats.
 * Empty if there is nothing else.
 */
export function textBefore(previous: string, text: string): string {
	const pieces = piecesOf(previous);
	while (pieces.length > 0 && text.includes(pieces.at(-1) as string)) pieces.pop();
	const chosen: string[] = [];
	let room = MAX_CHARS;
	for (const piece of pieces.reverse()) {
		room -= piece.length;
		if (room < 0) break;
		chosen.unshift(piece);
	}
	return chosen.join('\n');
}

/** The beginning of the chunk after a chunk of the same section, as `textBefore`. */
export function textAfter(text: string, next: string): string {
	const pieces = piecesOf(next);
	while (pieces.length > 0 && text.includes(pieces[0] as string)) pieces.shift();
	const chosen: string[] = [];
	let room = MAX_CHARS;
	for (const piece of pieces) {
		room -= piece.length;
		if (room < 0) break;
		chosen.push(piece);
	}
	return chosen.join('\n');
}

/** The lines, and the sentences of long lines: a row of a table and an item of a list stay whole. */
function piecesOf(text: string): string[] {
	const pieces = text
		.split('\n')
		.flatMap((line) =>
			line.length <= MAX_LINE_CHARS ? [line.trim()] : sentences(line, null).map((sentence) => sentence.text),
		);
	return pieces.filter((piece) => piece !== '');
}
