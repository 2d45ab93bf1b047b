/** Bytes of UTF-8 of a result that a model gets, at most. */
export const MAX_RESULT_BYTES = 32 * 1024;

const TRUNCATION_NOTE = '\n[The rest was cut off: the result is longer than 32 KiB.]';

/**
 * A text as a result: cut between two characters where it is too long, with a note.
 * @param isTruncated whether the text was cut before, although it is not too long
 */
export function truncateResult(text: string, isTruncated = false): string {
	// No character is shorter than a byte: the rest need not be encoded.
	const bytes = Buffer.from(text.slice(0, MAX_RESULT_BYTES + 1));
	if (bytes.length <= MAX_RESULT_BYTES && !isTruncated) return bytes.toString();
	const maxBytes = MAX_RESULT_BYTES - TRUNCATION_NOTE.length;
	return truncateUtf8(bytes, maxBytes) + TRUNCATION_NOTE;
}

/** The characters that are complete within the first bytes. */
function truncateUtf8(bytes: Buffer, maxBytes: number): string {
	let end = Math.min(maxBytes, bytes.length);
	// Bytes that continue a character begin with the bits 10.
	while (end > 0 && end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end--;
	return bytes.toString('utf8', 0, end);
}
