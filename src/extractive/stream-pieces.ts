/** A word, or as much of a script without spaces. Counted in code points: a pair of surrogates is never cut in two. */
const PIECE = /\s*\S{1,24}|\s+/gu;
/** Two or three words: smaller pieces cost more in events than they gain in smoothness. */
const MIN_PIECE_CHARACTERS = 16;

/** Cuts an answer into the pieces in which it is streamed; joined, they are the answer. */
export function streamPieces(text: string): string[] {
	const pieces: string[] = [];
	let piece = '';
	for (const [part] of text.matchAll(PIECE)) {
		piece += part;
		if (piece.length >= MIN_PIECE_CHARACTERS) {
			pieces.push(piece);
			piece = '';
		}
	}
	if (piece !== '') pieces.push(piece);
	return pieces;
}
