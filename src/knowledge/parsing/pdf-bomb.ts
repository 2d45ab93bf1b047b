import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflate } from 'node:zlib';
import { AppError } from '../../base/index.ts';

/** What one compressed stream, and all large ones together, may inflate to. PDF.js itself has no bound. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024;
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;

/** Deflate shrinks to a thousandth at best: a smaller stream inflates to less than 100 MB. */
const HARMLESS_BYTES = 96 * 1024;

/** Where a stream's dictionary says how it is compressed: just before it. */
const DICTIONARY_BYTES = 1024;
const MAX_LAYERS = 4;

/**
 * Measures what the compressed streams of a PDF inflate to, without keeping it.
 * @throws AppError `unreadable_file` where it is more than any document needs
 */
export async function refusePdfBomb(bytes: Uint8Array): Promise<void> {
	const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	let total = 0;
	let end = 0;
	for (let at = view.indexOf('stream'); at !== -1; at = view.indexOf('stream', at + 6)) {
		const start = at + 6 + (view[at + 6] === 0x0d ? 2 : 1);
		const first = view[start];
		// The first byte of compressed data names the method, deflate (RFC 1950).
		if (first === undefined || (first & 0x0f) !== 8) continue;
		if (end < start) {
			end = view.indexOf('endstream', start);
			if (end === -1) end = view.length;
		}
		const layers = layersOf(view.toString('latin1', Math.max(0, at - DICTIONARY_BYTES), at));
		if (layers === 0 || (layers === 1 && end - start <= HARMLESS_BYTES)) continue;
		total += await inflatedSize(view.subarray(start, end), layers);
		if (total > MAX_TOTAL_BYTES) throw tooLarge();
	}
}

/** How many times the stream after this dictionary is compressed. */
function layersOf(before: string): number {
	const dictionary = before.slice(before.lastIndexOf(' obj') + 1);
	return dictionary.match(/\/Fl(?:ateDecode)?\b/g)?.length ?? 0;
}

async function inflatedSize(compressed: Uint8Array, layers: number): Promise<number> {
	let size = 0;
	const counter = new Writable({
		write(chunk: Buffer, _encoding, done) {
			size += chunk.length;
			done(size > MAX_STREAM_BYTES ? tooLarge() : null);
		},
	});
	const stages = Array.from({ length: Math.min(layers, MAX_LAYERS) }, () => createInflate());
	try {
		await pipeline([Readable.from([compressed]), ...stages, counter]);
	} catch (error) {
		// Broken data is for the parser to judge; it inflates no further than this.
		if (error instanceof AppError) throw error;
	}
	return size;
}

function tooLarge(): AppError {
	return new AppError('unreadable_file', 'The PDF unpacks to far more data than a document holds.');
}
