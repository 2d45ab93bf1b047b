import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApiDocument } from '../contract/index.ts';
import { type Route, StaticFiles } from '../http/index.ts';

const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;
const NO_STORE = ['cache-control', 'no-store'] as const;

/** Only the server's own files: no other host is asked for anything. */
const DOCS_POLICY =
	"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</body>
</html>
`;

/** The validator would be a host of somebody else's. Keys that are pasted in are forgotten with the page. */
const DOCS_SCRIPT = `SwaggerUIBundle({
	url: '/api/openapi.json',
	dom_id: '#docs',
	deepLinking: true,
	displayRequestDuration: true,
	defaultModelsExpandDepth: 0,
	validatorUrl: 'none',
});
`;

/** Routes about the server itself: whether it lives, whether it takes traffic, and its documentation. */
export async function serverRoutes({
	isReady,
	version,
}: {
	isReady: () => boolean;
	version: string;
}): Promise<Route[]> {
	const swagger = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
	const ui = await StaticFiles.read(swagger, ['swagger-ui.css', 'swagger-ui-bundle.js'], {
		contentSecurityPolicy: DOCS_POLICY,
	});
	const docs = new StaticFiles(
		[
			['index.html', DOCS_PAGE],
			['start.js', DOCS_SCRIPT],
			['openapi.json', JSON.stringify(openApiDocument(version))],
		],
		{ contentSecurityPolicy: DOCS_POLICY },
	);
	const state = (status: number, text: string) => ({
		status,
		headers: [JSON_HEADER, NO_STORE],
		body: JSON.stringify({ status: text }),
	});
	return [
		{ method: 'GET', path: '/healthz', handle: () => state(200, 'alive') },
		{ method: 'GET', path: '/readyz', handle: () => (isReady() ? state(200, 'ready') : state(503, 'not ready')) },
		{ method: 'GET', path: '/api/openapi.json', handle: (request) => docs.reply('openapi.json', request) },
		{ method: 'GET', path: '/api/docs', handle: (request) => docs.reply('index.html', request) },
		{ method: 'GET', path: '/api/docs/start.js', handle: (request) => docs.reply('start.js', request) },
		{
			method: 'GET',
			path: '/api/docs/{file}',
			handle: (request) => ui.reply(request.params.file as string, request),
		},
	];
}

/** The routes that answer also while the server drains. */
export const SERVED_WHILE_DRAINING = ['/healthz', '/readyz'];
