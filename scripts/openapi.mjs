// The API's description as a file, and what is generated from it: the types of a client (openapi-typescript) and the list of operations
// in docs/api.md. `npm run docs` updates the list, and `npm run check` checks it.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, fingerprint, put, root, run, say, UserError } from './project.mjs';

const folder = '.build/openapi';
const documentFile = `${folder}/openapi.json`;
const clientFile = `${folder}/client.d.ts`;
const stampFile = `${folder}/stamp`;

const PAGE = 'docs/api.md';
const BEGIN = '<!-- operations: begin (npm run docs) -->';
const END = '<!-- operations: end -->';

/** Writes the document and the client's types if they are stale. Needs the dependencies. */
export async function ensureDescription() {
	const sources = [
		...filesBelow('src/contract'),
		...filesBelow('src/base'),
		'scripts/openapi.mjs',
		'package-lock.json',
	];
	const wanted = fingerprint(sources, versionOfPackage());
	if (stamp() === wanted) return;
	const started = performance.now();
	mkdirSync(join(root, folder), { recursive: true });
	const document = await loadDocument();
	put(documentFile, `${JSON.stringify(document, null, '\t')}\n`);
	const { default: generate, astToString } = await import('openapi-typescript');
	put(clientFile, astToString(await generate(structuredClone(document), { silent: true })));
	put(stampFile, wanted);
	say(`Described the API in ${Math.round(performance.now() - started)} ms.`);
}

/** Lints the document with Redocly CLI, with its telemetry switched off. */
export async function lintDescription() {
	await ensureDescription();
	const args = ['lint', '--config', '.redocly.yaml', '--format', 'stylish', '--max-problems', '100', documentFile];
	const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true', NO_COLOR: '1' };
	return run(process.execPath, ['node_modules/@redocly/cli/bin/cli.js', ...args], { env, quiet: true });
}

/** A sentence where the list of operations in docs/api.md is not that of the contract. */
export async function gapsInOperations() {
	await ensureDescription();
	const { before, list, after } = splitPage();
	const wanted = renderOperations(JSON.parse(readFileSync(join(root, documentFile), 'utf8')));
	if (list === wanted && before !== '' && after !== '') return [];
	return [`${PAGE}: its list of operations is not that of the contract. Run "npm run docs".`];
}

/** Writes the list of operations. */
export async function updateOperations() {
	await ensureDescription();
	const { before, after } = splitPage();
	const list = renderOperations(JSON.parse(readFileSync(join(root, documentFile), 'utf8')));
	put(PAGE, before + list + after);
}

/** The page around its list; the markers are outside of the list. */
function splitPage() {
	const page = readFileSync(join(root, PAGE), 'utf8');
	const from = page.indexOf(BEGIN);
	const to = page.indexOf(END);
	if (from < 0 || to < from) throw new UserError(`${PAGE} has lost its markers "${BEGIN}" and "${END}".`);
	const start = from + BEGIN.length;
	return { before: page.slice(0, start), list: page.slice(start, to), after: page.slice(to) };
}

/** One heading and table for each tag, in the order of the document. */
function renderOperations({ tags, paths }) {
	const all = Object.entries(paths).flatMap(([path, item]) =>
		Object.entries(item).map(([method, { tags, summary }]) => ({ path, method, tag: tags[0], summary })),
	);
	const tables = tags.map(({ name }) => {
		const rows = all
			.filter(({ tag }) => tag === name)
			.map(({ method, path, summary }) => `| \`${method.toUpperCase()} ${path}\` | ${summary} |`);
		return `### ${name}\n\n| operation | |\n|---|---|\n${rows.join('\n')}`;
	});
	return `\n\n${tables.join('\n\n')}\n\n`;
}

async function loadDocument() {
	const { tsImport } = await import('tsx/esm/api');
	const { openApiDocument } = await tsImport('../src/contract/index.ts', import.meta.url);
	// By way of JSON, as clients get it.
	return JSON.parse(JSON.stringify(openApiDocument(versionOfPackage())));
}

function versionOfPackage() {
	return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

function stamp() {
	try {
		readFileSync(join(root, documentFile));
		readFileSync(join(root, clientFile));
		return readFileSync(join(root, stampFile), 'utf8');
	} catch {
		return null;
	}
}
