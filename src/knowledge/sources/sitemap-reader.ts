import { createGunzip } from 'node:zlib';
import { Parser } from 'htmlparser2';
import { AppError } from '../../base/index.ts';
import { canonicalUrl, type PageAddress } from './canonical-url.ts';
import { MAX_ATTRIBUTES } from './page-reader.ts';

/** The addresses that a sitemap lists. */
export interface Sitemap {
	pages: PageAddress[];
	/** Of an index of sitemaps. */
	sitemaps: PageAddress[];
}

/** Bytes of a sitemap, uncompressed, and its addresses: the limits of the protocol (sitemaps.org). */
export const MAX_SITEMAP_BYTES = 50_000_000;
const MAX_ADDRESSES = 50_000;
/** Depth of nested elements. A sitemap has three, with extensions up to six. */
const MAX_DEPTH = 50;
const MAX_ADDRESS_LENGTH = 2_048;

/** Bytes after which the event loop may do other work. */
const YIELD_BYTES = 64 * 1024;

/** Which addresses of a sitemap are kept. */
export interface SitemapOptions {
	/** The address of the sitemap. */
	address: string;
	/** Pages that are kept. The rest of the sitemap is read, but not kept. */
	maxPages: number;
	maxSitemaps: number;
	isWanted(address: PageAddress): boolean;
}

/**
 * Reads a sitemap: XML, an index of sitemaps, or a text with an address in each line; also compressed by gzip.
 * @throws AppError `unreadable_file` for what is none, is too large, or breaks off
 */
export async function readSitemap(bytes: AsyncIterable<Buffer>, options: SitemapOptions): Promise<Sitemap> {
	const reader = new SitemapReader(options);
	const decoder = new TextDecoder();
	let size = 0;
	let sinceYield = 0;
	for await (const piece of uncompressed(bytes)) {
		size += piece.length;
		if (size > MAX_SITEMAP_BYTES) throw unreadable('The sitemap is larger than 50 MB.');
		reader.write(decoder.decode(piece, { stream: true }));
		sinceYield += piece.length;
		if (sinceYield < YIELD_BYTES) continue;
		sinceYield = 0;
		await new Promise(setImmediate);
	}
	reader.write(decoder.decode());
	return reader.end();
}

/** Decompresses gzip, which the address or the content type of a file names, but not its Content-Encoding. */
async function* uncompressed(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
	const pieces = bytes[Symbol.asyncIterator]();
	const first = await pieces.next();
	if (first.done) return;
	const head = first.value;
	async function* all(): AsyncGenerator<Buffer> {
		yield head;
		for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
	}
	if (head[0] !== 0x1f || head[1] !== 0x8b) {
		yield* all();
		return;
	}
	const gunzip = createGunzip();
	const written = writeAll(all(), gunzip);
	try {
		for await (const piece of gunzip) yield piece as Buffer;
		await written;
	} catch (error) {
		if (error instanceof AppError) throw error;
		throw unreadable('The sitemap is not valid gzip data.', error);
	} finally {
		gunzip.destroy();
		await written.catch(() => {});
	}
}

async function writeAll(source: AsyncIterable<Buffer>, sink: ReturnType<typeof createGunzip>): Promise<void> {
	try {
		for await (const piece of source) {
			if (sink.destroyed) return;
			if (!sink.write(piece)) await new Promise<void>((resolve) => sink.once('drain', resolve).once('close', resolve));
		}
		sink.end();
	} catch (error) {
		sink.destroy(error as Error);
		throw error;
	}
}

class SitemapReader {
	readonly #options: SitemapOptions;
	readonly #parser: Parser;
	readonly #pages = new Map<string, PageAddress>();
	readonly #sitemaps = new Map<string, PageAddress>();
	#form: 'unknown' | 'xml' | 'text' = 'unknown';
	#root: string | null = null;
	#depth = 0;
	#attributeCount = 0;
	#address: string | null = null;
	#count = 0;
	/** The beginning of a line whose end has not arrived. */
	#line = '';

	constructor(options: SitemapOptions) {
		this.#options = options;
		this.#parser = new Parser(
			{
				onopentagname: () => {
					this.#attributeCount = 0;
				},
				onattribute: () => {
					if (++this.#attributeCount > MAX_ATTRIBUTES) throw unreadable('The address does not lead to a sitemap.');
				},
				onopentag: (name) => this.#open(localName(name)),
				ontext: (text) => {
					if (this.#address !== null && this.#address.length <= MAX_ADDRESS_LENGTH) this.#address += text;
				},
				onclosetag: (name) => this.#close(localName(name)),
			},
			{ xmlMode: true, decodeEntities: true },
		);
	}

	write(text: string): void {
		if (this.#form === 'unknown') {
			const start = text.replace(/^\uFEFF/, '').trimStart();
			if (start === '') return;
			this.#form = start.startsWith('<') ? 'xml' : 'text';
		}
		if (this.#form === 'xml') this.#parser.write(text);
		else this.#lines(text);
	}

	/** @throws AppError `unreadable_file` */
	end(): Sitemap {
		if (this.#form === 'xml') this.#parser.end();
		else this.#lines('\n');
		const isSitemap =
			this.#root === 'urlset' || this.#root === 'sitemapindex' || (this.#form === 'text' && this.#count > 0);
		if (!isSitemap) throw unreadable('The address does not lead to a sitemap.');
		return { pages: [...this.#pages.values()], sitemaps: [...this.#sitemaps.values()] };
	}

	#open(name: string): void {
		if (++this.#depth > MAX_DEPTH) throw unreadable('The address does not lead to a sitemap.');
		this.#root ??= name;
		if (this.#root !== 'urlset' && this.#root !== 'sitemapindex')
			throw unreadable('The address does not lead to a sitemap.');
		// `image:loc` and others of extensions are deeper.
		if (name === 'loc' && this.#depth === 3) this.#address = '';
	}

	#close(name: string): void {
		if (name === 'loc' && this.#depth === 3 && this.#address !== null) {
			this.#add(this.#address);
			this.#address = null;
		}
		this.#depth--;
	}

	#lines(text: string): void {
		const lines = (this.#line + text).split(/\r?\n/);
		const rest = lines.pop() ?? '';
		this.#line = rest.length > MAX_ADDRESS_LENGTH ? rest.slice(0, MAX_ADDRESS_LENGTH + 1) : rest;
		for (const line of lines) if (/^\s*https?:/i.test(line)) this.#add(line);
	}

	#add(text: string): void {
		const link = text.trim();
		if (link === '' || link.length > MAX_ADDRESS_LENGTH || ++this.#count > MAX_ADDRESSES) return;
		const address = canonicalUrl(link, this.#options.address);
		if (address === null) return;
		const isIndex = this.#root === 'sitemapindex';
		const kept = isIndex ? this.#sitemaps : this.#pages;
		const limit = isIndex ? this.#options.maxSitemaps : this.#options.maxPages;
		if (kept.size < limit && (isIndex || this.#options.isWanted(address))) kept.set(address.url, address);
	}
}

function localName(name: string): string {
	return name.slice(name.indexOf(':') + 1).toLowerCase();
}

function unreadable(message: string, cause?: unknown): AppError {
	return new AppError('unreadable_file', message, { cause });
}
