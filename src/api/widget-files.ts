import { AppError } from '../base/index.ts';
import type { Headers, HttpRequest, Route, RouteResponse } from '../http/index.ts';
import { readBuiltFiles } from './built-files.ts';

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
];

/**
 * The files that a website loads: the script of the tag, the same as a module, and what these load when the chat is opened. The build
 * makes and compresses them, and the server holds them in memory.
 */
export async function widgetFileRoutes(): Promise<Route[]> {
	const files = await readBuiltFiles('widget');
	// The folder may also hold files of an earlier build.
	const script = files.get('widget.js')?.text ?? '';
	const isCurrent = (name: string) => {
		const version = HASHED_NAME.exec(name)?.[1];
		return version !== undefined && script.includes(version);
	};
	const hashedNames = [...files.keys()].filter(isCurrent);
	const latest = new Map(hashedNames.map((name) => [nameWithoutHash(name), name]));
	const respond = (name: string, request: HttpRequest): RouteResponse => {
		// A page that was loaded before an upgrade requests names of the earlier version: the present file serves it too.
		const current = files.has(name) ? name : HASHED_NAME.test(name) ? latest.get(nameWithoutHash(name)) : undefined;
		const file = current === undefined ? undefined : files.get(current);
		if (file === undefined) {
			throw new AppError('not_found', files.size === 0 ? 'The widget is not built: run "npm run build".' : undefined);
		}
		const lifetime = current !== name ? 'no-store' : HASHED_NAME.test(name) ? IMMUTABLE_CACHE : SHORT_CACHE;
		return file.respond(request, [...COMMON_HEADERS, ['cache-control', lifetime]]);
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

/** The name without its content hash. */
function nameWithoutHash(name: string): string {
	return name.replace(HASHED_NAME, '');
}
