/** Bytes of UTF-8 that a model is told of a result, at most. */
export const MAX_RESULT_BYTES = 32 * 1024;

const CUT = '\n[The rest was cut off: the result is longer than 32 KiB.]';

/**
 * A text as a result: cut between two characters where it is too long, with a note that says so.
 * @param isPart whether there was more, although what is here is not too long
 */
export function cutResult(text: string, isPart = false): string {
	// No character is shorter than a byte: what lies beyond need not be looked at.
	const bytes = Buffer.from(text.slice(0, MAX_RESULT_BYTES + 1));
	if (bytes.length <= MAX_RESULT_BYTES && !isPart) return bytes.toString();
	const room = MAX_RESULT_BYTES - CUT.length;
	return headOf(bytes, room) + CUT;
}

/** The characters that are whole within the first bytes. */
function headOf(bytes: Buffer, room: number): string {
	let end = Math.min(room, bytes.length);
	// Bytes that continue a character begin with the bits 10.
	while (end > 0 && end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end--;
	return bytes.toString('utf8', 0, end);
}
