import { AppError } from '../base/index.ts';
import type { Headers, Route } from '../http/index.ts';
import { readBuiltFiles } from './built-files.ts';

/** The only page of the dashboard. */
const PAGE = 'index.html';

/** Only the server's own files and its API; no inline code, no text that becomes code, and no frame around the page. */
const POLICY = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"connect-src 'self'",
	"img-src 'self' data: blob:",
	"frame-src 'self'",
	"base-uri 'none'",
	"form-action 'self'",
	"frame-ancestors 'none'",
	"require-trusted-types-for 'script'",
	"trusted-types 'none'",
].join('; ');

const PAGE_HEADERS: Headers = [
	['cache-control', 'no-cache'],
	['content-security-policy', POLICY],
	['referrer-policy', 'no-referrer'],
	['cross-origin-opener-policy', 'same-origin'],
];
/** Names of all other files have a hash of their content. */
const FILE_HEADERS: Headers = [
	['cache-control', 'public, max-age=31536000, immutable'],
	['cross-origin-resource-policy', 'same-origin'],
];

/** The dashboard: one page, and the files that it loads. The build makes and compresses them. */
export async function dashboardFileRoutes(): Promise<Route[]> {
	const files = await readBuiltFiles('dashboard');
	const fileOf = (name: string) => {
		const file = files.get(name);
		if (file !== undefined) return file;
		throw new AppError('not_found', files.size === 0 ? 'The dashboard is not built: run "npm run build".' : undefined);
	};
	return [
		{
			method: 'GET',
			path: '/dashboard',
			isLogSampled: true,
			handle: (request) => fileOf(PAGE).respond(request, PAGE_HEADERS),
		},
		{
			method: 'GET',
			path: '/dashboard/{file}',
			isLogSampled: true,
			handle: (request) => {
				const name = request.params.file as string;
				return fileOf(name).respond(request, name === PAGE ? PAGE_HEADERS : FILE_HEADERS);
			},
		},
	];
}
