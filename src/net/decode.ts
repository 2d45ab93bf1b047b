import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { AppError } from '../base/index.ts';

/** The supported content codings (RFC 9110, 8.4.1), as the value of Accept-Encoding. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * Decompresses a body. Throws as soon as there are more than `maxBytes`, however few bytes they were compressed to.
 * @param encoding the Content-Encoding header; empty for none
 * @throws AppError `unreadable_file`
 */
export async function* decode(wire: AsyncIterable<Buffer>, encoding: string, maxBytes: number): AsyncGenerator<Buffer> {
	const coding = encoding.trim().toLowerCase();
	const plain = coding === '' || coding === 'identity' ? wire : decompress(wire, coding);
	let size = 0;
	for await (const chunk of plain) {
		size += chunk.length;
		if (size > maxBytes) throw new FileTooLargeError(maxBytes);
		yield chunk;
	}
}

/** The error for a file above a limit. Another attempt would get the same file. */
export class FileTooLargeError extends AppError {
	constructor(maxBytes: number) {
		super('unreadable_file', `The file at this URL is larger than ${formatBytes(maxBytes)}.`);
	}
}

async function* decompress(wire: AsyncIterable<Buffer>, coding: string): AsyncGenerator<Buffer> {
	const chunks = wire[Symbol.asyncIterator]();
	let first = await chunks.next();
	while (!first.done && first.value.length === 0) first = await chunks.next();
	// An empty body is empty in every coding.
	if (first.done) return;
	const head = first.value;
	const decoder = decoderOf(coding, head);
	async function* withHead(): AsyncGenerator<Buffer> {
		yield head;
		for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
	}
	// Passes an error of the source to the decoder, which throws it in the loop below.
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
			// Some servers omit the zlib wrapper that the standard requires. Its first byte ends in 8.
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
