import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Ways to make connections, or to hide them from the check. They are allowed only in src/net. */
const OUT = [
	"export const page = await fetch('https://shop.example/');",
	'export const alias = fetch;',
	'export const later = { fetch };',
	"export const called = fetch.call(null, 'https://shop.example/');",
	"export const page = await globalThis.fetch('https://shop.example/');",
	"export const page = await globalThis['fetch']('https://shop.example/');",
	'const world = globalThis;\nexport const alias = world.fetch;',
	'const { fetch: other } = globalThis;\nexport const alias = other;',
	"export const socket = new WebSocket('wss://shop.example/');",
	"export const events = new EventSource('https://shop.example/');",
	'export const Page = XMLHttpRequest;',
	"import { request } from 'undici';\nexport const ask = request;",
	"export const { request } = await import('undici');",
	"export * from 'undici';",
	"import http from 'node:http';\nexport const ask = http.get;",
	"import { request } from 'http';\nexport const ask = request;",
	"import https from 'node:https';\nexport const ask = https.get;",
	"import { connect } from 'node:http2';\nexport const ask = connect;",
	"import { connect } from 'node:net';\nexport const ask = connect;",
	"import net from 'node:net';\nexport const ask = net.connect;",
	"import * as net from 'net';\nexport const ask = net;",
	"export const { Socket } = await import('node:net');",
	"import { connect } from 'node:tls';\nexport const ask = connect;",
	"import { createSocket } from 'node:dgram';\nexport const ask = createSocket;",
	"import { lookup } from 'node:dns/promises';\nexport const ask = lookup;",
	"import { execFile } from 'node:child_process';\nexport const curl = execFile;",
	"import { createRequire } from 'node:module';\nexport const require = createRequire(import.meta.url);",
	"export const tcp = (process as unknown as { binding(name: string): unknown }).binding('tcp_wrap');",
	"import { createRemoteJWKSet } from 'jose';\nexport const keys = createRemoteJWKSet;",
	"import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';\nexport const start = StdioClientTransport;",
	"import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';\nexport const start = SSEClientTransport;",
];

/** Code that looks similar and makes no connection. */
const FINE = [
	"import { isIP } from 'node:net';\nexport const known = isIP;",
	"import { createLocalJWKSet } from 'jose';\nexport const keys = createLocalJWKSet;",
	"export const ask = (network: { fetch(url: string): unknown }) => network.fetch('https://shop.example/');",
	'export const ask = (fetch: (url: string) => unknown) => fetch("https://shop.example/");',
	"// Not by fetch('https://shop.example/') alone.\nexport const prefetch = (url: string) => url;",
	"export const script = `await fetch('/api/v1/session')`;",
];

/** Runs a tool like `npm run check` in a folder. @returns its whole output */
function said(folder: string, tool: string, ...args: string[]): Promise<string> {
	return new Promise((done) => {
		execFile(
			process.execPath,
			[join(ROOT, 'node_modules', tool), ...args],
			{ cwd: folder, maxBuffer: 16 * 1024 * 1024 },
			(_error, stdout, stderr) => done(stdout + stderr),
		);
	});
}

/**
 * The output of the three checks of connections for files, by path: the parts of `npm run check` that read imports and
 * names.
 */
async function refusedOf(files: Record<string, string>): Promise<Set<string>> {
	const folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-lint-')));
	try {
		await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
		for (const name of ['.biome.json', '.dependency-cruiser.cjs', 'tsconfig.json', 'package.json']) {
			await copyFile(join(ROOT, name), join(folder, name));
		}
		for (const room of ['src/tools', 'src/net', 'src/http', 'workers', 'bench', 'test']) {
			await mkdir(join(folder, room), { recursive: true });
		}
		for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), `${text}\n`);
		const [linted, imports] = await Promise.all([
			said(
				folder,
				'@biomejs/biome/bin/biome',
				'lint',
				'--colors=off',
				'--max-diagnostics=none',
				'--reporter=github',
				'.',
			),
			said(
				folder,
				'dependency-cruiser/bin/dependency-cruise.mjs',
				...['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src', 'workers', 'bench', 'test'],
			),
		]);
		const rules = (await import('../../scripts/source-rules.mjs' as string)) as {
			ruleViolationsIn(path: string, read: () => string): string[];
		};
		const { summary } = JSON.parse(imports) as { summary: { violations: Array<{ from: string }> } };
		const refused = new Set(summary.violations.map(({ from }) => from));
		for (const [, path = ''] of linted.matchAll(/^::error [^\n]*\bfile=([^,\n]+)/gm))
			refused.add(relative(folder, resolve(folder, path)));
		for (const [path, text] of Object.entries(files)) {
			if (rules.ruleViolationsIn(path, () => text).length > 0) refused.add(path);
		}
		return refused;
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

test('fails the check if another module than src/net makes connections', async () => {
	const files: Record<string, string> = {};
	for (const [index, text] of OUT.entries()) {
		files[`src/tools/out-${index}.ts`] = text;
		files[`workers/out-${index}.ts`] = text;
	}
	const expected = Object.keys(files).toSorted();
	for (const [index, text] of FINE.entries()) files[`src/tools/fine-${index}.ts`] = text;
	for (const [index, text] of OUT.entries()) {
		if (/fetch|undici|node:(http|net|tls|dgram|dns)/.test(text)) files[`src/net/way-${index}.ts`] = text;
	}
	const refused = await refusedOf(files);
	const missed = expected.filter((path) => !refused.has(path));
	assert.deepEqual(
		missed.map((path) => files[path]),
		[],
	);
	assert.deepEqual(
		[...refused].filter((path) => /fine-/.test(path)).map((path) => files[path]),
		[],
	);
	const own = [...refused].filter((path) => path.startsWith('src/net/'));
	assert.deepEqual(
		own.map((path) => files[path]),
		[],
	);
});
