import { createReadStream } from 'node:fs';
import { AppError, type Clock, type Log, messageOf, retryAfterMs, shortageOf } from '../../base/index.ts';
import { type Download, FileTooLargeError, type Network } from '../../net/index.ts';
import { sniffFormat } from '../../parsing/index.ts';
import type { IncomingBlob, SourcePageRecord, Store } from '../../store/index.ts';
import { fileNameOf, rejectionOf } from '../ingest/fetch-document.ts';
import { canonicalUrl, type PageAddress } from './canonical-url.ts';
import type { HostPace } from './host-pace.ts';
import { charsetOfPage, type PageFacts, PageReader, robotsDirectives } from './page-reader.ts';
import type { RobotsCache } from './robots-cache.ts';
import { MAX_SITEMAP_BYTES, readSitemap, type Sitemap, type SitemapOptions } from './sitemap-reader.ts';

/** Why a page has no usable answer, in a sentence for the person who reads the list of pages. */
export type PageProblem = NonNullable<SourcePageRecord['error']>;

/** The content of a page. */
export interface PageContent {
	/** Temporary bytes: the caller persists or discards them. */
	blob: IncomingBlob;
	contentType: string | null;
	fileName: string | null;
	/** Null for what is no HTML. */
	facts: PageFacts | null;
	/** What two pages with the same content share. */
	content: string;
	etag: string | null;
	lastModified: string | null;
}

/** What one request for a page gave. */
export type Visit = { httpStatus: number | null } & (
	| { outcome: 'content'; page: PageContent }
	| { outcome: 'sitemap'; sitemap: Sitemap }
	/** The content is that of the last visit; its links are those of the stored bytes. */
	| { outcome: 'not_modified'; facts: PageFacts | null }
	| { outcome: 'redirect'; target: PageAddress }
	/** 404 or 410. */
	| { outcome: 'missing'; problem: PageProblem }
	/** The site asks not to fetch it. */
	| { outcome: 'blocked'; problem: PageProblem }
	/** No usable answer. `isTransient`: another attempt may get one. */
	| { outcome: 'failed'; problem: PageProblem; isTransient: boolean }
);

export interface VisitDependencies {
	store: Pick<Store, 'blobs'>;
	network: Pick<Network, 'download'>;
	clock: Clock;
	robots: RobotsCache;
	pace: HostPace;
	log: Log;
}

/** The bytes of the last visit, whose validators make the request conditional. */
export type FormerContent = Pick<SourcePageRecord, 'etag' | 'last_modified'> & {
	blob: string;
	contentType: string | null;
};

/** What is requested. */
export interface VisitRequest {
	address: string;
	/** Null: the content is needed in any case. */
	former: FormerContent | null;
	/** Reads the answer as a sitemap. */
	sitemap: Omit<SitemapOptions, 'address'> | null;
}

/** A sitemap may be larger than a document, and takes longer. */
const SITEMAP_TIMEOUT_MS = 60_000;
/** Statuses of an answer that may be another one soon. */
const TRANSIENT_STATUSES = new Set([408, 425, 429]);

/**
 * Requests a page as its site allows it. A failure is an outcome, too.
 * @returns null if its host asks to wait
 * @throws AppError `unavailable` if this server cannot receive it now; the signal's reason
 */
export async function visitPage(
	deps: VisitDependencies,
	request: VisitRequest,
	signal: AbortSignal,
): Promise<Visit | null> {
	const url = new URL(request.address);
	try {
		const rules = await deps.robots.rulesFor(url, signal);
		if (!rules.allows(url.pathname + url.search)) {
			const message = `The robots.txt of ${url.host} does not allow Parley to fetch this page.`;
			return { outcome: 'blocked', httpStatus: null, problem: { code: 'forbidden', message } };
		}
		return await deps.pace.run(url.host, rules.crawlDelayMs, signal, () => send(deps, request, url, signal));
	} catch (error) {
		if (signal.aborted || shortageOf(error)) throw error;
		if (!(error instanceof AppError)) {
			// A defect with one page must not stop the run.
			deps.log.error({ url: request.address, error: messageOf(error) }, 'a page of a source could not be processed');
			return failed(null, { code: 'internal_error', message: 'The page could not be processed.' }, false);
		}
		if (error.code === 'unavailable') throw error;
		const isTransient = error.code === 'unreadable_file' && !(error instanceof FileTooLargeError);
		return failed(null, { code: error.code, message: error.message }, isTransient);
	}
}

/** The sitemaps that the robots.txt of an address names; none while it cannot be read, because then its pages fail, too. */
export async function sitemapsOfSite(
	{ robots }: Pick<VisitDependencies, 'robots'>,
	address: string,
	signal: AbortSignal,
): Promise<PageAddress[]> {
	try {
		const { sitemaps } = await robots.rulesFor(new URL(address), signal);
		return sitemaps.map((sitemap) => canonicalUrl(sitemap, address)).filter((sitemap) => sitemap !== null);
	} catch (error) {
		if (signal.aborted || !(error instanceof AppError)) throw error;
		return [];
	}
}

async function send(deps: VisitDependencies, request: VisitRequest, url: URL, signal: AbortSignal): Promise<Visit> {
	const { former, sitemap } = request;
	await using answer = await deps.network.download(request.address, {
		signal,
		anyStatus: true,
		maxRedirects: 0,
		headers: conditions(former),
		...(sitemap
			? { timeoutMs: SITEMAP_TIMEOUT_MS, maxWireBytes: MAX_SITEMAP_BYTES, maxDecodedBytes: MAX_SITEMAP_BYTES }
			: {}),
	});
	const { status, headers } = answer;
	const statusProblem = { code: 'unreadable_file', message: `The page answered with status ${status}.` } as const;
	if (status === 304 && former) {
		const facts = await factsOfBlob(deps, request.address, former);
		return { outcome: 'not_modified', httpStatus: status, facts: withHeader(facts, headers['x-robots-tag']) };
	}
	if (status >= 300 && status <= 399) return redirectOf(answer, url);
	if (status === 404 || status === 410) {
		return { outcome: 'missing', httpStatus: status, problem: { ...statusProblem, code: 'not_found' } };
	}
	if (status >= 500 || TRANSIENT_STATUSES.has(status)) {
		const wait = retryAfterMs(headers['retry-after'], deps.clock.now());
		if (wait !== null) deps.pace.retryAfter(url.host, wait);
		return failed(status, statusProblem, true);
	}
	if (status < 200 || status > 299) return failed(status, statusProblem, false);
	try {
		if (sitemap) {
			const options = { ...sitemap, address: request.address };
			return { outcome: 'sitemap', httpStatus: status, sitemap: await readSitemap(answer.body, options) };
		}
		return await receive(deps, answer, request.address);
	} catch (error) {
		if (signal.aborted || !(error instanceof AppError) || error.code === 'unavailable') throw error;
		return failed(status, { code: error.code, message: error.message }, false);
	}
}

/** Streams the bytes to disk and reads the page at the same time. */
async function receive({ store }: VisitDependencies, answer: Download, address: string): Promise<Visit> {
	const { status, headers } = answer;
	const contentType = headers['content-type'] ?? null;
	const fileName = fileNameOf(address);
	let reader: PageReader | null = null;
	let isFirst = true;
	async function* observed(): AsyncGenerator<Buffer> {
		for await (const piece of answer.body) {
			if (isFirst) reader = readerFor(address, fileName, contentType, piece);
			isFirst = false;
			reader?.write(piece);
			yield piece;
		}
	}
	const blob = await store.blobs.receive(observed());
	const rejection = rejectionOf(blob, fileName, contentType);
	if (rejection) {
		await blob.discard();
		throw rejection;
	}
	const facts = withHeader((reader as PageReader | null)?.end() ?? null, headers['x-robots-tag']);
	const page: PageContent = {
		blob,
		contentType,
		fileName,
		facts,
		content: facts?.content ?? blob.hash,
		etag: headers.etag ?? null,
		lastModified: headers['last-modified'] ?? null,
	};
	return { outcome: 'content', httpStatus: status, page };
}

/** Adds what the header `X-Robots-Tag` says to the facts of a page. */
function withHeader(facts: PageFacts | null, tag: string | undefined): PageFacts | null {
	if (facts === null || tag === undefined) return facts;
	const { noindex, nofollow } = robotsDirectives(tag);
	return { ...facts, noindex: facts.noindex || noindex, nofollow: facts.nofollow || nofollow };
}

function readerFor(
	address: string,
	fileName: string | null,
	contentType: string | null,
	head: Buffer,
): PageReader | null {
	if (sniffFormat(head, fileName, contentType) !== 'html') return null;
	return new PageReader(address, charsetOfPage(contentType ?? undefined, head));
}

/** The links of the stored bytes, because a site does not send them again. */
function factsOfBlob(
	{ store }: VisitDependencies,
	address: string,
	{ blob, contentType }: FormerContent,
): Promise<PageFacts | null> {
	return store.blobs.withFile(blob, (path) => factsOfFile(path, address, contentType));
}

async function factsOfFile(path: string, address: string, contentType: string | null): Promise<PageFacts | null> {
	let reader: PageReader | null = null;
	let isFirst = true;
	for await (const piece of createReadStream(path)) {
		if (isFirst) reader = readerFor(address, fileNameOf(address), contentType, piece as Buffer);
		isFirst = false;
		reader?.write(piece as Buffer);
	}
	return reader?.end() ?? null;
}

/** The links of the bytes of the last visit; null if they are not stored any more. */
export async function linksOfFormer(
	deps: VisitDependencies,
	address: string,
	former: FormerContent,
): Promise<PageAddress[] | null> {
	try {
		return (await factsOfBlob(deps, address, former))?.links ?? [];
	} catch {
		return null;
	}
}

function conditions(former: FormerContent | null): Record<string, string> {
	if (former?.etag) return { 'if-none-match': former.etag };
	return former?.last_modified ? { 'if-modified-since': former.last_modified } : {};
}

function redirectOf({ status, headers }: Download, url: URL): Visit {
	const target = headers.location === undefined ? null : canonicalUrl(headers.location, url.href);
	const failure = (message: string) => failed(status, { code: 'unreadable_file', message }, false);
	if (target === null) return failure(`The page answered with status ${status} and no usable address.`);
	if (url.protocol === 'https:' && target.url.startsWith('http:')) {
		return failure('The page redirects from https to http, which is not followed.');
	}
	return { outcome: 'redirect', httpStatus: status, target };
}

function failed(httpStatus: number | null, problem: PageProblem, isTransient: boolean): Visit {
	return { outcome: 'failed', httpStatus, problem, isTransient };
}
