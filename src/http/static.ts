import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { AppError } from '../base/index.ts';
import { etagOf, notModified } from './conditional.ts';
import type { BytesResponse, Headers, HttpRequest } from './types.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
	'.css': 'text/css; charset=utf-8',
	'.html': 'text/html; charset=utf-8',
	'.ico': 'image/x-icon',
	'.js': 'text/javascript; charset=utf-8',
	'.json': 'application/json; charset=utf-8',
	'.map': 'application/json; charset=utf-8',
	'.mjs': 'text/javascript; charset=utf-8',
	'.png': 'image/png',
	'.svg': 'image/svg+xml',
	'.txt': 'text/plain; charset=utf-8',
	'.webp': 'image/webp',
	'.woff2': 'font/woff2',
};

/** How files are served. */
export interface StaticFilesOptions {
	/** Default `no-cache`: stored, but revalidated each time; the ETag makes that cheap. */
	cacheControl?: string;
	/** The Content-Security-Policy of every file. */
	contentSecurityPolicy?: string;
	/** The Vary header of every file. */
	vary?: string;
}

/** A small set of files, held in memory with their headers. */
export class StaticFiles {
	readonly #files = new Map<string, { etag: string; headers: Headers; body: Uint8Array }>();
	readonly #common: Headers;

	/** @param entries name and content; the name's extension determines the content type */
	constructor(
		entries: Iterable<readonly [name: string, content: string | Uint8Array]>,
		options: StaticFilesOptions = {},
	) {
		const policy = options.contentSecurityPolicy;
		this.#common = [
			['cache-control', options.cacheControl ?? 'no-cache'],
			['x-content-type-options', 'nosniff'],
			...(policy === undefined ? [] : [['content-security-policy', policy] as const]),
			...(options.vary === undefined ? [] : [['vary', options.vary] as const]),
		];
		for (const [name, content] of entries) this.#add(name, content);
	}

	/** Reads the named files of one folder, or all files directly in it. */
	static async read(folder: string, names?: readonly string[], options?: StaticFilesOptions): Promise<StaticFiles> {
		const fileNames = names ?? (await fileNamesIn(folder));
		const entries = fileNames.map(async (name) => [name, await readFile(join(folder, name))] as const);
		return new StaticFiles(await Promise.all(entries), options);
	}

	/**
	 * The response to a request for a file.
	 * @throws AppError `not_found`
	 */
	respond(name: string, request: HttpRequest): BytesResponse {
		const file = this.#files.get(name);
		if (file === undefined) throw new AppError('not_found', 'There is no such file.');
		const notModifiedResponse = notModified(request.header('if-none-match'), file.etag, file.headers);
		return notModifiedResponse ?? { status: 200, headers: file.headers, body: file.body };
	}

	#add(name: string, content: string | Uint8Array): void {
		const body = typeof content === 'string' ? Buffer.from(content) : content;
		const etag = etagOf(body);
		const type = CONTENT_TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream';
		this.#files.set(name, { etag, headers: [['content-type', type], ['etag', etag], ...this.#common], body });
	}
}

async function fileNamesIn(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { withFileTypes: true });
	return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}
