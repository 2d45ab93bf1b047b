import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createResource, untilSettled } from '../../api/fixture.ts';
import type { ApiResponse } from '../../support/app.ts';
import { until } from '../../support/until.ts';

/** The server under test, in this process or in another. */
interface Caller {
	call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
}

/** A page: HTML, or anything that the listener answers. */
type Page = string | RequestListener;

/** A website whose pages a test changes. A page of HTML is sent with an ETag, and a conditional request is honoured. */
export interface Website extends AsyncDisposable {
	/** Without a slash at its end. */
	readonly url: string;
	/** By path and query. */
	readonly pages: Map<string, Page>;
	/** The requests since the last call, without those for robots.txt: path, and status if it is not 200. */
	takeRequests(): string[];
}

export async function startWebsite(pages: Record<string, Page> = {}): Promise<Website> {
	const known = new Map(Object.entries(pages));
	let requests: string[] = [];
	const server = createServer((request, response) => {
		const path = request.url ?? '/';
		const page = known.get(path);
		response.once('finish', () => {
			const { statusCode } = response;
			if (path !== '/robots.txt') requests.push(statusCode === 200 ? path : `${path} ${statusCode}`);
		});
		if (page === undefined) response.writeHead(404).end('Nothing here.');
		else if (typeof page === 'function') page(request, response);
		else {
			const etag = `"${createHash('sha1').update(page).digest('hex')}"`;
			if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
			else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', etag }).end(page);
		}
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		pages: known,
		takeRequests() {
			const taken = requests;
			requests = [];
			return taken;
		},
		async [Symbol.asyncDispose]() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		},
	};
}

/** A page of a website with a title, a sentence, and links. */
export function htmlPage(title: string, sentence: string, links: string[] = [], head = ''): string {
	const items = links.map((link) => `<li><a href="${link}">${link}</a></li>`).join('');
	return `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body><nav><ul>${items}</ul></nav><main><h1>${title}</h1><p>${sentence}</p></main></body></html>`;
}

/** A source and its knowledge base, as a client sees them. */
export interface FollowedSource {
	base: string;
	id: string;
	path: string;
	// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
	get(): Promise<any>;
	/** Calls `refresh` and waits for the end of the run. */
	refresh(): Promise<Awaited<ReturnType<FollowedSource['get']>>>;
	/** Waits until no run is due or in progress, and every document is processed. */
	untilDone(): Promise<Awaited<ReturnType<FollowedSource['get']>>>;
	/** The pages as `[path, status]`, sorted. */
	pages(): Promise<string[]>;
	// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
	page(url: string): Promise<any>;
	/** The texts that a search finds. */
	search(query: string): Promise<string[]>;
}

/** Adds a source to a new knowledge base, or to a given one. */
export async function followSource(app: Caller, body: object, base?: string): Promise<FollowedSource> {
	const knowledgeBase = base ?? (await createResource(app, '/api/v1/knowledge-bases', { name: 'Site' }));
	const sources = `/api/v1/knowledge-bases/${knowledgeBase}/sources`;
	const id = await createResource(app, sources, body);
	const path = `${sources}/${id}`;
	const get = async () => (await app.call('GET', path)).body;
	const listPages = async () => (await app.call('GET', `${path}/pages?limit=100&order=asc`)).body.data;
	const untilDone = async () => {
		const source = await until('the run of the source has ended', async () => {
			const current = await get();
			return !['queued', 'running'].includes(current.status) && current;
		});
		await untilSettled(app, knowledgeBase);
		return { ...source, progress: (await get()).progress };
	};
	return {
		base: knowledgeBase,
		id,
		path,
		get,
		untilDone,
		async refresh() {
			const { status, body: answer } = await app.call('POST', `${path}/refresh`);
			if (status !== 200) throw new Error(JSON.stringify(answer));
			return untilDone();
		},
		async pages() {
			const pages: Array<{ url: string; status: string }> = await listPages();
			return pages.map(({ url, status }) => `${new URL(url).pathname}${new URL(url).search} ${status}`).sort();
		},
		async page(url) {
			const pages: Array<{ url: string }> = await listPages();
			return pages.find((page) => page.url === url);
		},
		async search(query) {
			const { body: found } = await app.call('POST', `/api/v1/knowledge-bases/${knowledgeBase}/search`, {
				query,
				top_k: 50,
			});
			return found.data.map(({ text }: { text: string }) => text);
		},
	};
}
