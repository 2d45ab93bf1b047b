import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApiDocument } from '../contract/index.ts';
import { type BytesReply, type HttpRequest, type Route, StaticFiles } from '../http/index.ts';

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

/** Why a server takes no traffic now. */
export interface Unready {
	/** For programs. */
	reason: string;
	/** For people. */
	message: string;
}

export interface ServerRoutesOptions {
	/** Null while the server takes traffic. */
	whyUnready(): Unready | null;
	version: string;
}

/** Routes about the server itself: whether it lives, whether it takes traffic, and its documentation. */
export function serverRoutes({ whyUnready, version }: ServerRoutesOptions): Route[] {
	const documentation = new Documentation(version);
	const state = (status: number, body: object) => ({
		status,
		headers: [JSON_HEADER, NO_STORE],
		body: JSON.stringify(body),
	});
	const readiness = () => {
		const unready = whyUnready();
		return unready === null ? state(200, { status: 'ready' }) : state(503, { status: 'not ready', ...unready });
	};
	return [
		{ method: 'GET', path: '/healthz', sampled: true, handle: () => state(200, { status: 'alive' }) },
		{ method: 'GET', path: '/readyz', sampled: true, handle: readiness },
		{
			method: 'GET',
			path: '/api/openapi.json',
			sampled: true,
			handle: (request) => documentation.own('openapi.json', request),
		},
		{ method: 'GET', path: '/api/docs', sampled: true, handle: (request) => documentation.own('index.html', request) },
		{
			method: 'GET',
			path: '/api/docs/start.js',
			sampled: true,
			handle: (request) => documentation.own('start.js', request),
		},
		{
			method: 'GET',
			path: '/api/docs/{file}',
			sampled: true,
			handle: (request) => documentation.foreign(request.params.file as string, request),
		},
	];
}

/** The pages about the API. Made and read when somebody first looks: most servers are never asked. */
class Documentation {
	readonly #version: string;
	#own: StaticFiles | undefined;
	#foreign: Promise<StaticFiles> | undefined;

	constructor(version: string) {
		this.#version = version;
	}

	/** The description of the API and the page around it. */
	own(name: string, request: HttpRequest): BytesReply {
		this.#own ??= new StaticFiles(
			[
				['index.html', DOCS_PAGE],
				['start.js', DOCS_SCRIPT],
				['openapi.json', JSON.stringify(openApiDocument(this.#version))],
			],
			{ contentSecurityPolicy: DOCS_POLICY },
		);
		return this.#own.reply(name, request);
	}

	/** Swagger UI. */
	async foreign(name: string, request: HttpRequest): Promise<BytesReply> {
		this.#foreign ??= StaticFiles.read(swaggerFolder(), ['swagger-ui.css', 'swagger-ui-bundle.js'], {
			contentSecurityPolicy: DOCS_POLICY,
		}).catch((error: unknown) => {
			// The next one who asks tries again.
			this.#foreign = undefined;
			throw error;
		});
		return (await this.#foreign).reply(name, request);
	}
}

/** Beside the bundled server, or in its package when Parley runs from its sources. */
function swaggerFolder(): string {
	const bundled = fileURLToPath(new URL('./static/swagger-ui', import.meta.url));
	if (existsSync(bundled)) return bundled;
	return dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
}

/** The routes that answer also while the server drains. */
export const SERVED_WHILE_DRAINING = ['/healthz', '/readyz'];
