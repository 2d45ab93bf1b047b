import type { HttpRequest, Route } from '../http/index.ts';
import { staticPageRoutes } from './static-page.ts';

const STYLE = `.links { margin: 24px 0 0; padding: 0; list-style: none; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
.links li { padding: 12px 16px; }
.links li + li { border-top: 1px solid var(--line); }
.links a { font-weight: 500; }
.links span { display: block; color: var(--soft); }
`;

const DEMO =
	'<li><a href="demo">Demo</a><span>A plain page with the chat on it, as visitors of a website see it.</span></li>\n';

/** The page at the server's root, with links to the other pages. Clients that ask for JSON get the links as JSON. */
export function startPageRoutes({ demo, version }: { demo: boolean; version: string }): Route[] {
	const main = `<h1>Parley</h1>
<p>This server runs assistants that answer from your own documents, over an API and on your website.</p>
<ul class="links">
<li><a href="dashboard">Dashboard</a><span>Create assistants, and try them in a conversation.</span></li>
<li><a href="api/docs">API documentation</a><span>Every operation, with a form to try it.</span></li>
${demo ? DEMO : ''}<li><a href="api/openapi.json">OpenAPI description</a><span>The same for programs: generate a client from it.</span></li>
</ul>`;
	const links = {
		dashboard: '/dashboard',
		docs: '/api/docs',
		openapi: '/api/openapi.json',
		...(demo ? { demo: '/demo' } : {}),
	};
	const body = JSON.stringify({ name: 'Parley', version, links });
	return staticPageRoutes({
		path: '/',
		folder: 'start',
		title: 'Parley',
		main,
		style: STYLE,
		vary: 'Accept',
		override: (request) =>
			asksForJson(request)
				? {
						status: 200,
						headers: [
							['content-type', 'application/json; charset=utf-8'],
							['cache-control', 'no-cache'],
							['vary', 'Accept'],
						],
						body,
					}
				: undefined,
	});
}

/** Whether a request prefers JSON to a page. */
function asksForJson(request: HttpRequest): boolean {
	const accept = request.header('accept') ?? '';
	return /\bapplication\/([\w.-]+\+)?json\b/i.test(accept) && !/\btext\/html\b/i.test(accept);
}
