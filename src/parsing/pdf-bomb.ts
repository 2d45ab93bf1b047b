import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflate } from 'node:zlib';
import { AppError } from '../base/index.ts';
import { resourceLimit } from './limits.ts';

/** The maximum inflated size of one compressed stream, and of all large streams together. PDF.js itself has no limit. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024;
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;

/** The list of a file's objects takes 4 bytes or more for each, and becomes 100 bytes in memory. */
const MAX_INDEX_BYTES = 8 * 1024 * 1024;
/** Objects that stand in the file itself; a page needs about ten. */
const MAX_OBJECTS = 500_000;

/** Deflate compresses by a factor of at most a thousand: a smaller stream inflates to less than 100 MB. */
const SMALL_STREAM_BYTES = 96 * 1024;

/** A page of text draws less than a tenth of this. The operators of a larger drawing take hundreds of MB of memory. */
const LARGE_DRAWING_BYTES = 4 * 1024 * 1024;
/** Streams that no page draws: pictures, fonts, colour profiles (`N`), objects, files. */
const NO_DRAWING =
	/\/Subtype\s*\/(?:Image|Type1C|CIDFontType0C|OpenType|XML)\b|\/Length1\b|\/N\s+\d|\/Type\s*\/(?:XRef|ObjStm|EmbeddedFile|Metadata)\b/;

/** What `requireNoPdfBomb` has found. */
export interface PdfMeasures {
	/** Whether a compressed stream that a page may draw is large, like those of plans. */
	hasLargeDrawing: boolean;
}

/** The size of the search for a stream's dictionary, which precedes it and names its compression. */
const DICTIONARY_BYTES = 1024;
const MAX_FILTERS = 4;

/**
 * Counts the objects of a PDF and measures the inflated size of its compressed streams, without keeping them.
 * @throws AppError `resource_limit` if it is more than any document needs
 */
export async function requireNoPdfBomb(bytes: Uint8Array): Promise<PdfMeasures> {
	const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	requireObjectLimit(view);
	let total = 0;
	let end = 0;
	let hasLargeDrawing = false;
	for (let at = view.indexOf('stream'); at !== -1; at = view.indexOf('stream', at + 6)) {
		const start = at + 6 + (view[at + 6] === 0x0d ? 2 : 1);
		const first = view[start];
		// The first byte of compressed data names the method, deflate (RFC 1950).
		if (first === undefined || (first & 0x0f) !== 8) continue;
		if (end < start) {
			end = view.indexOf('endstream', start);
			if (end === -1) end = view.length;
		}
		const dictionary = dictionaryOf(view.toString('latin1', Math.max(0, at - DICTIONARY_BYTES), at));
		const filters = dictionary.match(/\/Fl(?:ateDecode)?\b/g)?.length ?? 0;
		const isIndex = /\/XRef\b/.test(dictionary);
		if (filters === 0 || (filters === 1 && end - start <= SMALL_STREAM_BYTES && !isIndex)) continue;
		const size = await inflatedSize(view.subarray(start, end), filters, isIndex ? MAX_INDEX_BYTES : MAX_STREAM_BYTES);
		total += size;
		if (total > MAX_TOTAL_BYTES) throw tooLarge();
		hasLargeDrawing ||= size > LARGE_DRAWING_BYTES && !NO_DRAWING.test(dictionary);
	}
	return { hasLargeDrawing };
}

function requireObjectLimit(view: Buffer): void {
	let objects = 0;
	for (let at = view.indexOf(' obj'); at !== -1; at = view.indexOf(' obj', at + 4)) {
		if (++objects > MAX_OBJECTS) {
			throw resourceLimit(
				`The PDF has more than ${MAX_OBJECTS.toLocaleString('en')} objects. Split it into smaller files.`,
			);
		}
	}
}

/** The dictionary before a stream. It has the stream's type and its filters, of which there may be several. */
function dictionaryOf(before: string): string {
	return before.slice(before.lastIndexOf(' obj') + 1);
}

async function inflatedSize(compressed: Uint8Array, filters: number, maxBytes: number): Promise<number> {
	let size = 0;
	const counter = new Writable({
		write(chunk: Buffer, _encoding, done) {
			size += chunk.length;
			done(size > maxBytes ? tooLarge() : null);
		},
	});
	const stages = Array.from({ length: Math.min(filters, MAX_FILTERS) }, () => createInflate());
	try {
		await pipeline([Readable.from([compressed]), ...stages, counter]);
	} catch (error) {
		// The parser reports broken data; it inflates no further than this.
		if (error instanceof AppError) throw error;
	}
	return size;
}

function tooLarge(): AppError {
	return resourceLimit('The PDF unpacks to far more data than a document holds.');
}
