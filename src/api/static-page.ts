import { type HttpRequest, type Route, type RouteResponse, StaticFiles } from '../http/index.ts';

/** Only the server's own files, no inline code, and no form submission. */
const POLICY =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The style that the server's pages share: fonts, spacing and colours, for light and dark schemes. */
const STYLE = `:root {
	color-scheme: light dark;
	--page: #f7f8fa; --surface: #fff; --text: #1c2024; --soft: #5b606b; --line: #dcdee5; --control: #858a97;
	--accent: #4f46e5; --on-accent: #fff; --link: #4338ca; --wrong: #b42318;
	font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
@media (prefers-color-scheme: dark) {
	:root {
		--page: #121419; --surface: #1a1d24; --text: #eceef3; --soft: #a3a9b6; --line: #30343f; --control: #767d8c;
		--accent: #5b57d9; --on-accent: #fff; --link: #a9abff; --wrong: #ff9b8f;
	}
}
*, ::before, ::after { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere; }
main { max-width: 704px; margin: 0 auto; padding: 64px 32px; }
h1, h2 { margin: 0 0 8px; font-weight: 600; line-height: 1.25; }
h1 { font-size: 20px; }
h2 { font-size: 16px; }
p { max-width: 68ch; margin: 0 0 12px; }
.soft { color: var(--soft); }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { overflow-x: auto; margin: 0 0 12px; padding: 12px; background: var(--page); border: 1px solid var(--line); border-radius: 6px; }
.card { margin: 16px 0 0; padding: 16px; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
.card > :last-child { margin-bottom: 0; }
label { display: block; font-weight: 500; }
input:not([type='checkbox']) { display: block; width: 100%; height: 36px; margin: 4px 0 12px; padding: 0 8px; font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--control); border-radius: 6px; }
input::placeholder { color: var(--soft); opacity: 1; }
button { height: 36px; padding: 0 16px; font: inherit; font-weight: 500; color: var(--on-accent); background: var(--accent); border: 0; border-radius: 6px; cursor: pointer; }
button:disabled { opacity: 0.6; cursor: default; }
@media (pointer: coarse) { button, input:not([type='checkbox']) { height: 44px; font-size: 16px; } }
@media (max-width: 640px) { main { padding: 32px 16px; } }
`;

/** A page of the server. Its links are relative: a proxy may serve it below another path. */
export interface StaticPage {
	/** Its path, for example `/demo`. Style sheet and script are below it: `/demo/page.css` and `/demo/page.js`. */
	path: string;
	/** The folder of these two, where the path is `/`. */
	folder?: string;
	title: string;
	/** The content of `<main>`. */
	main: string;
	/** Styles beside the shared ones. */
	style?: string;
	script?: string;
	/** Further content of `<head>`. */
	head?: string;
	/** The `Vary` header: request headers that the response depends on. */
	vary?: string;
	/** A response in place of the page; undefined: the page. */
	override?(request: HttpRequest): RouteResponse | undefined;
}

/** The routes of a page. */
export function staticPageRoutes({ path, folder = path.slice(1), override, ...page }: StaticPage): Route[] {
	const files = new StaticFiles(
		[
			['index.html', htmlOf(folder, page)],
			['page.css', STYLE + (page.style ?? '')],
			...(page.script === undefined ? [] : [['page.js', page.script] as const]),
		],
		{ contentSecurityPolicy: POLICY, ...(page.vary === undefined ? {} : { vary: page.vary }) },
	);
	const route = (at: string, name: string): Route => ({
		method: 'GET',
		path: at,
		isLogSampled: true,
		handle: (request) => files.respond(name, request),
	});
	return [
		{
			method: 'GET',
			path,
			isLogSampled: true,
			handle: (request) => override?.(request) ?? files.respond('index.html', request),
		},
		route(`/${folder}/page.css`, 'page.css'),
		...(page.script === undefined ? [] : [route(`/${folder}/page.js`, 'page.js')]),
	];
}

function htmlOf(folder: string, { title, head = '', main, script }: Omit<StaticPage, 'path'>): string {
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${head}<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}/page.css">
</head>
<body>
<main>
${main.trim()}
</main>
${script === undefined ? '' : `<script src="${folder}/page.js"></script>\n`}</body>
</html>
`;
}
