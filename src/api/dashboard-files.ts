import { AppError } from '../base/index.ts';
import type { Headers, Route } from '../http/index.ts';
import { type AdmissionOptions, admitCaller } from './admission.ts';
import { readBuiltFiles } from './built-files.ts';

/** The page of the dashboard. */
const PAGE = 'index.html';
/** The page in the frame of the editor of deployments: the widget as visitors see it. */
const PREVIEW = 'preview.html';

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
/**
 * The widget in a frame of the dashboard, with logos from other servers. Alone among the pages it may be framed, by the server's own
 * pages.
 */
const PREVIEW_POLICY = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"connect-src 'self'",
	"img-src 'self' data: https:",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'self'",
	"require-trusted-types-for 'script'",
	"trusted-types 'none'",
].join('; ');

const PREVIEW_HEADERS: Headers = [
	['cache-control', 'no-store'],
	['content-security-policy', PREVIEW_POLICY],
	['referrer-policy', 'no-referrer'],
	['cross-origin-opener-policy', 'same-origin'],
	['cross-origin-resource-policy', 'same-origin'],
];
/** Names of all other files have a hash of their content. */
const FILE_HEADERS: Headers = [
	['cache-control', 'public, max-age=31536000, immutable'],
	['cross-origin-resource-policy', 'same-origin'],
];

/**
 * The dashboard: one page, the page of the preview, and the files that they load. The build makes and compresses them. Only the
 * preview needs a session, with whose rights it acts.
 */
export async function dashboardFileRoutes(options: AdmissionOptions): Promise<Route[]> {
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
			path: '/dashboard/',
			isLogSampled: true,
			// Relative: a proxy may serve the server below another path.
			handle: () => ({ status: 308, headers: [['location', '../dashboard']] }),
		},
		{
			method: 'GET',
			path: '/dashboard/preview',
			isLogSampled: true,
			handle: async (request) => {
				const response = await admitCaller(
					request,
					(credentials) => options.access.authenticateUser(credentials),
					async (caller) => {
						options.access.requireScope(caller, 'deployments:read');
						return fileOf(PREVIEW).respond(request, []);
					},
					options,
				);
				// A refusal has the same rules: another website cannot frame it either.
				const others = (response.headers ?? []).filter(([name]) => name !== 'cache-control');
				return { ...response, headers: [...others, ...PREVIEW_HEADERS] };
			},
		},
		{
			method: 'GET',
			path: '/dashboard/{file}',
			isLogSampled: true,
			handle: (request) => {
				const name = request.params.file as string;
				if (name === PREVIEW) throw new AppError('not_found');
				return fileOf(name).respond(request, name === PAGE ? PAGE_HEADERS : FILE_HEADERS);
			},
		},
	];
}
