/** A word, or 24 characters of a script without spaces. It counts code points, so a surrogate pair is never split. */
const PIECE = /\s*\S{1,24}|\s+/gu;
/** Two or three words. Smaller pieces would make the stream smoother, but each piece costs an event. */
const MIN_PIECE_CHARACTERS = 16;

/** Splits an answer into the pieces that are streamed. Joined, they are the answer. */
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
