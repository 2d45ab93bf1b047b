import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AppError } from '../base/index.ts';
import { openApiDocument } from '../contract/index.ts';
import { type BytesResponse, type HttpRequest, type Route, StaticFiles } from '../http/index.ts';

/** Only the server's own files: the page loads nothing from another host. */
const POLICY =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/docs.css">
</head>
<body>
<a class="skip" href="#operations">Skip to the operations</a>
<header>
<div class="title">
<h1>Parley API <span id="version" class="soft"></span></h1>
<a href="openapi.json">OpenAPI description</a> · <a href="../">Start page</a>
</div>
<div>
<label for="key">API key, forgotten with the page</label>
<input id="key" type="password" placeholder="sk_…" autocomplete="off" spellcheck="false">
</div>
<div>
<label for="search">Search (press /)</label>
<input id="search" type="search" autocomplete="off" spellcheck="false">
</div>
</header>
<div class="layout">
<nav aria-label="Operations"><details id="menu"><summary>All operations</summary><div id="list"></div></details></nav>
<main>
<p id="found" role="status" class="soft"></p>
<p id="loading">Loading the description of the API …</p>
<noscript><p>This page needs JavaScript. The same is in <a href="openapi.json">openapi.json</a>.</p></noscript>
<div id="introduction"></div>
<div id="operations" tabindex="-1"></div>
</main>
</div>
<script type="module" src="docs/docs.js"></script>
</body>
</html>
`;

/** The description of the API, and the page that shows it. */
export function docsPageRoutes({ version }: { version: string }): Route[] {
	const documentation = new Documentation(version);
	return [
		{
			method: 'GET',
			path: '/api/openapi.json',
			isLogSampled: true,
			handle: (request) => documentation.generatedFile('openapi.json', request),
		},
		{
			method: 'GET',
			path: '/api/docs',
			isLogSampled: true,
			handle: (request) => documentation.generatedFile('index.html', request),
		},
		{
			method: 'GET',
			path: '/api/docs/{file}',
			isLogSampled: true,
			handle: (request) => documentation.builtFile(request.params.file as string, request),
		},
	];
}

/** Rendered and read on the first request: most servers have none. */
class Documentation {
	readonly #version: string;
	#generatedFiles: StaticFiles | undefined;
	#builtFiles: Promise<StaticFiles> | undefined;

	constructor(version: string) {
		this.#version = version;
	}

	/** The description of the API and the page around it. */
	generatedFile(name: string, request: HttpRequest): BytesResponse {
		this.#generatedFiles ??= new StaticFiles(
			[
				['index.html', PAGE_HTML],
				['openapi.json', JSON.stringify(openApiDocument(this.#version))],
			],
			{ contentSecurityPolicy: POLICY },
		);
		return this.#generatedFiles.respond(name, request);
	}

	/** The page's script and style sheet, which the build makes from src/api-docs. */
	async builtFile(name: string, request: HttpRequest): Promise<BytesResponse> {
		const folder = builtFolder();
		if (folder === undefined) throw new AppError('not_found', 'The API docs are not built: run "npm run build".');
		this.#builtFiles ??= StaticFiles.read(fileURLToPath(folder), undefined, { contentSecurityPolicy: POLICY }).catch(
			(error: unknown) => {
				// The next request retries.
				this.#builtFiles = undefined;
				throw error;
			},
		);
		return (await this.#builtFiles).respond(name, request);
	}
}

/** Beside the bundled server, or in the build's folder when Parley runs from its sources. */
function builtFolder(): URL | undefined {
	const candidates = ['./static/docs/', '../../.build/static/docs/'].map(
		(candidate) => new URL(candidate, import.meta.url),
	);
	return candidates.find((candidate) => existsSync(new URL('docs.js', candidate)));
}
