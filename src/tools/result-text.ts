/** Bytes of UTF-8 that a model is told of a result, at most. */
export const MAX_RESULT_BYTES = 32 * 1024;

const TRUNCATION_NOTE = '\n[The rest was cut off: the result is longer than 32 KiB.]';

/**
 * A text as a result: cut between two characters where it is too long, with a note that says so.
 * @param isTruncated whether there was more, although what is here is not too long
 */
export function truncateResult(text: string, isTruncated = false): string {
	// No character is shorter than a byte: what lies beyond need not be looked at.
	const bytes = Buffer.from(text.slice(0, MAX_RESULT_BYTES + 1));
	if (bytes.length <= MAX_RESULT_BYTES && !isTruncated) return bytes.toString();
	const maxBytes = MAX_RESULT_BYTES - TRUNCATION_NOTE.length;
	return truncateUtf8(bytes, maxBytes) + TRUNCATION_NOTE;
}

/** The characters that are whole within the first bytes. */
function truncateUtf8(bytes: Buffer, maxBytes: number): string {
	let end = Math.min(maxBytes, bytes.length);
	// Bytes that continue a character begin with the bits 10.
	while (end > 0 && end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end--;
	return bytes.toString('utf8', 0, end);
}
