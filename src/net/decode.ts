import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { AppError } from '../base/index.ts';

/** The content codings (RFC 9110, 8.4.1) that are understood, as a request offers them. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * The bytes that were meant, from those on the wire; ends once there are more than `maxBytes`, however few they were
 * packed into.
 * @param encoding the Content-Encoding header; empty for none
 * @throws AppError `unreadable_file`
 */
export async function* decode(wire: AsyncIterable<Buffer>, encoding: string, maxBytes: number): AsyncGenerator<Buffer> {
	const coding = encoding.trim().toLowerCase();
	const plain = coding === '' || coding === 'identity' ? wire : decompress(wire, coding);
	let size = 0;
	for await (const chunk of plain) {
		size += chunk.length;
		if (size > maxBytes) throw fileTooLargeError(maxBytes);
		yield chunk;
	}
}

/** The error of an answer that is over a limit. */
export function fileTooLargeError(maxBytes: number): AppError {
	return new AppError('unreadable_file', `The file at this URL is larger than ${formatBytes(maxBytes)}.`);
}

async function* decompress(wire: AsyncIterable<Buffer>, coding: string): AsyncGenerator<Buffer> {
	const chunks = wire[Symbol.asyncIterator]();
	let first = await chunks.next();
	while (!first.done && first.value.length === 0) first = await chunks.next();
	// No body is no body in any coding.
	if (first.done) return;
	const head = first.value;
	const decoder = decoderOf(coding, head);
	async function* withHead(): AsyncGenerator<Buffer> {
		yield head;
		for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
	}
	// Hands a failure of the source to the decoder, from where it reaches the reader below.
	pipeline(withHead(), decoder, () => {});
	try {
		for await (const chunk of decoder) yield chunk as Buffer;
	} catch (thrown) {
		if (!isZlibError(thrown)) throw thrown;
		throw new AppError('unreadable_file', `The file at this URL is not valid ${coding} data.`, { cause: thrown });
	}
}

function decoderOf(coding: string, head: Buffer): Transform {
	switch (coding) {
		case 'gzip':
		case 'x-gzip':
			return createGunzip();
		case 'deflate':
			// Some servers leave out the zlib wrapper that the standard asks for; its first byte ends in 8.
			return (head[0]! & 0x0f) === 8 ? createInflate() : createInflateRaw();
		case 'br':
			return createBrotliDecompress();
		default:
			throw new AppError('unreadable_file', `The file at this URL has the unknown Content-Encoding "${coding}".`);
	}
}

function isZlibError(thrown: unknown): boolean {
	return thrown instanceof Error && 'code' in thrown && /^(Z_|ERR_)/.test(String(thrown.code)) && 'errno' in thrown;
}

function formatBytes(bytes: number): string {
	return bytes % 1_000_000 === 0 ? `${bytes / 1_000_000} MB` : `${bytes} bytes`;
}
