import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { AppError } from '../base/index.ts';
import { etagOf, type Headers, type HttpRequest, notModified, type Route, type RouteResponse } from '../http/index.ts';

/** Cached for ten minutes, then revalidated: a new version of the server soon reaches every page. */
const SHORT_CACHE = 'public, max-age=600, stale-while-revalidate=86400';
/** The file name has a content hash. */
const IMMUTABLE_CACHE = 'public, max-age=31536000, immutable';
const HASHED_NAME = /-([0-9a-f]{10})\.js$/;

/** Pages of any origin load these, as scripts and as modules; their content is public. */
const COMMON_HEADERS: Headers = [
	['access-control-allow-origin', '*'],
	['cross-origin-resource-policy', 'cross-origin'],
	['timing-allow-origin', '*'],
	['x-content-type-options', 'nosniff'],
	['vary', 'Accept-Encoding'],
];

/** One encoding of a file: plain or compressed. */
interface EncodedFile {
	headers: Headers;
	etag: string;
	body: Buffer;
}

/** The encodings that a client may accept, the smallest first. */
const ENCODINGS = [
	['br', '.br'],
	['gzip', '.gz'],
	['', ''],
] as const;

/**
 * The files that a website loads: the script of the tag, the same as a module, and what these load when the chat is opened. The build
 * makes and compresses them, and the server holds them in memory.
 */
export async function widgetFileRoutes(): Promise<Route[]> {
	const files = await readFiles(builtFolder());
	// The folder may also hold files of an earlier build.
	const script = files.get('widget.js')?.get('')?.body.toString() ?? '';
	const isCurrent = (name: string) => {
		const version = HASHED_NAME.exec(name)?.[1];
		return version !== undefined && script.includes(version);
	};
	const hashedNames = [...files.keys()].filter(isCurrent);
	const latest = new Map(hashedNames.map((name) => [nameWithoutHash(name), name]));
	const respond = (name: string, request: HttpRequest): RouteResponse => {
		// A page that was loaded before an upgrade requests names of the earlier version: the present file serves it too.
		const current = files.has(name) ? name : HASHED_NAME.test(name) ? latest.get(nameWithoutHash(name)) : undefined;
		const variants = current === undefined ? undefined : files.get(current);
		if (variants === undefined) {
			throw new AppError('not_found', files.size === 0 ? 'The widget is not built: run "npm run build".' : undefined);
		}
		const accepted = request.header('accept-encoding') ?? '';
		const variant = ENCODINGS.map(([coding]) => (accepts(accepted, coding) ? variants.get(coding) : undefined)).find(
			(one) => one !== undefined,
		) as EncodedFile;
		const lifetime = current !== name ? 'no-store' : HASHED_NAME.test(name) ? IMMUTABLE_CACHE : SHORT_CACHE;
		const headers: Headers = [...variant.headers, ['cache-control', lifetime]];
		const notModifiedResponse = notModified(request.header('if-none-match'), variant.etag, headers);
		return notModifiedResponse ?? { status: 200, headers, body: variant.body };
	};
	return [
		...['widget.js', 'widget.mjs', 'widget.d.mts'].map(
			(name): Route => ({
				method: 'GET',
				path: `/${name}`,
				isLogSampled: true,
				handle: (request) => respond(name, request),
			}),
		),
		{
			method: 'GET',
			path: '/widget/{file}',
			isLogSampled: true,
			handle: (request) => respond(request.params.file as string, request),
		},
	];
}

/** Beside the bundled server, or in the build's folder when Parley runs from its sources. */
function builtFolder(): URL {
	const bundled = new URL('./widget/', import.meta.url);
	return existsSync(new URL('widget.js', bundled)) ? bundled : new URL('../../.build/widget/', import.meta.url);
}

async function readFiles(folder: URL): Promise<Map<string, Map<string, EncodedFile>>> {
	const found = existsSync(folder) ? await readdir(folder) : [];
	const names = found.filter((name) => /\.m?[jt]s$/.test(name));
	const read = async (name: string): Promise<[string, Map<string, EncodedFile>]> => {
		const variants = new Map<string, EncodedFile>();
		for (const [coding, suffix] of ENCODINGS) {
			if (!found.includes(name + suffix)) continue;
			const body = await readFile(new URL(name + suffix, folder));
			const etag = etagOf(body);
			const encoded: Headers = coding === '' ? [] : [['content-encoding', coding]];
			const type = /ts$/.test(name) ? 'text/plain' : 'text/javascript';
			const headers: Headers = [
				['content-type', `${type}; charset=utf-8`],
				['etag', etag],
				...encoded,
				...COMMON_HEADERS,
			];
			variants.set(coding, { headers, etag, body });
		}
		return [name, variants];
	};
	return new Map(await Promise.all(names.map(read)));
}

/** The name without its content hash. */
function nameWithoutHash(name: string): string {
	return name.replace(HASHED_NAME, '');
}

/** Whether an Accept-Encoding header accepts this coding (RFC 9110, section 12.5.3); the plain encoding always is accepted. */
function accepts(header: string, coding: string): boolean {
	if (coding === '') return true;
	return header.split(',').some((part) => {
		const [name, ...weights] = part.split(';').map((text) => text.trim().toLowerCase());
		return name === coding && !weights.some((weight) => /^q=0(\.0*)?$/.test(weight));
	});
}
