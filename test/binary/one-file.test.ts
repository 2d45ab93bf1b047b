import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { copyFile, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { version } from '../../src/base/index.ts';
import { ModelServer } from '../support/model-server.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { exampleServer, freePort } from '../tools/mcp-example-server.ts';
import { emptyFolder, executable, runExecutable, skip, unpackingInto } from './executable.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const tracing = spawnSync('strace', ['-f', '-e', 'trace=none', 'true']).status === 0;

test('the single binary, alone in an empty folder without a PATH, prints its version and its commands', {
	skip,
}, async (t) => {
	const folder = await emptyFolder(t);
	const cache = { PARLEY_CACHE_DIR: join(folder, 'cache') };
	const told = await runExecutable(['--version'], cache, folder);
	assert.deepEqual(told, { code: 0, signal: null, out: `${version()}\n`, err: '' });
	const { code, out } = await runExecutable(['--help'], cache, folder);
	assert.equal(code, 0);
	for (const command of ['serve', 'keys create', 'users create', 'workspaces list', 'doctor']) {
		assert.ok(out.includes(`\n  ${command}`), `${command} is a command`);
	}
	const wrong = await runExecutable(['keyz'], cache, folder);
	assert.equal(wrong.code, 2);
	assert.match(wrong.err, /there is no command "keyz"/);
	assert.deepEqual(await readdir(folder), ['cache'], 'nothing else was written');
});

test('unpacks beside the data without a home folder', { skip }, async (t) => {
	const folder = await emptyFolder(t);
	const { code, out, err } = await runExecutable(
		['keys', 'generate'],
		{ HOME: '/nonexistent/home', XDG_CACHE_HOME: '/proc/none' },
		folder,
	);
	assert.equal(code, 0, err);
	assert.match(out, /^sk_/);
	assert.match((await readdir(join(folder, 'data/run/cache'))).join(), /^parley-\d/);
});

test('opens no file of installed packages or of an installed Node', {
	skip: skip || (!tracing && 'skipped: there is no strace, or it may not trace'),
}, async (t) => {
	const folder = await emptyFolder(t);
	const trace = join(folder, 'trace');
	// Another place than the project's: what is looked for beside the file would be found there.
	await copyFile(executable, join(folder, 'parley'));
	const wrapperCommand = ['strace', '-D', '-f', '-e', 'trace=open,openat,execve', '-e', 'signal=none', '-o', trace];
	const program = { ...unpackingInto(join(folder, 'cache')), command: join(folder, 'parley') };
	{
		await using server = await startServer({ wrapperCommand, program });
		assert.equal((await server.call('GET', '/api/openapi.json')).status, 200);
		await indexSamples(server);
		assert.deepEqual(await server.stop(), { code: 0, signal: null });
	}
	const text = await until('the trace is complete', async () => {
		const text = await readFile(trace, 'utf8');
		return /\+\+\+ exited[^\n]*\n$/.test(text) && text;
	});
	const opened = [...text.matchAll(/^\d+ +(?:open|openat|execve)\((?:[A-Z_0-9]+, )?"([^"]+)"/gm)].map(
		([, path]) => path as string,
	);
	assert.ok(
		opened.some((path) => path.endsWith('/native/uws.node')),
		'the trace shows what is opened',
	);
	assert.ok(
		opened.some((path) => path.endsWith('/workers/parse.js')),
		'of threads too',
	);
	const foreign = opened.filter(
		(path) => path.startsWith(root) || path.includes('node_modules') || /\/bin\/node$/.test(path),
	);
	assert.deepEqual([...new Set(foreign)], []);
});

test('documents of every kind, the API docs, the widget, model providers and MCP servers work in the single binary', {
	skip,
}, async (t) => {
	const folder = await emptyFolder(t);
	await using models = await ModelServer.start();
	await using mcp = await exampleServer(await freePort());
	const providers = [
		{ id: 'open', type: 'openai-compatible', base_url: models.baseUrl },
		{ id: 'claude', type: 'anthropic', base_url: models.baseUrl, api_key_env: 'SOME_KEY' },
	];
	await using server = await startServer({
		program: unpackingInto(join(folder, 'cache')),
		env: { PARLEY_PROVIDERS: JSON.stringify(providers), SOME_KEY: 'key-1', PARLEY_ALLOW_PRIVATE_NETWORK: '1' },
	});
	const knowledge_base = await indexSamples(server);
	const found = await server.call('POST', `/api/v1/knowledge-bases/${knowledge_base}/search`, {
		query: 'error code E3',
	});
	assert.equal(found.body.data[0]?.title, 'Brook HB-170 kettle: user manual');

	for (const path of ['', '/docs.js', '/docs.css']) {
		const { status, headers } = await fetch(`${server.url}/api/docs${path}`);
		assert.equal(status, 200, path);
		assert.match(headers.get('content-type') ?? '', /text\/(html|css|javascript)/, path);
	}
	for (const path of ['/widget.js', '/widget.mjs']) {
		const { status, headers } = await fetch(server.url + path);
		assert.deepEqual([status, headers.get('content-type')?.split(';')[0]], [200, 'text/javascript'], path);
	}
	for (const model of ['open/any', 'claude/any']) {
		const assistant = await server.call('POST', '/api/v1/assistants', { name: model, model });
		const deployment = await server.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
		const { status, body } = await server.call('POST', '/api/v1/messages', {
			deployment_id: deployment.body.id,
			content: 'Hi',
		});
		assert.deepEqual([status, body.content], [201, 'Hello.'], JSON.stringify(body));
	}
	const tool = await server.call('POST', '/api/v1/tools', {
		name: 'example',
		description: 'd',
		type: 'mcp',
		config: { url: mcp.url },
	});
	assert.equal(tool.status, 201, JSON.stringify(tool.body));
	const functions = await server.call('GET', `/api/v1/tools/${tool.body.id}/functions`);
	assert.match(JSON.stringify(functions.body), /greet/);
});

test('reads scans with the packages that PARLEY_OCR_DIR names, and says without them that it has none', {
	skip,
}, async (t) => {
	const cache = join(await emptyFolder(t), 'cache');
	const program = unpackingInto(cache);
	await using server = await startServer({ program, env: { PARLEY_OCR: 'eng', PARLEY_OCR_DIR: root } });
	const { body } = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Scans' });
	const form = new FormData();
	form.append('file', new Blob([await readFile(join(root, 'test/fixtures/documents/scan.pdf'))]), 'scan.pdf');
	const base = `/api/v1/knowledge-bases/${body.id}`;
	assert.equal((await server.call('POST', `${base}/documents`, form)).status, 201);
	await until(
		'the scan is indexed',
		async () => {
			const { data } = (await server.call('GET', `${base}/documents`)).body;
			assert.notEqual(data[0].status, 'error', JSON.stringify(data));
			return data[0].status === 'indexed';
		},
		// Recognition takes minutes of a machine that runs many other tests.
		600_000,
	);
	const found = await server.call('POST', `${base}/search`, { query: 'How long does the warranty cover the parts?' });
	const documents = await server.call('GET', `${base}/documents`);
	assert.match(found.body.data[0]?.text ?? '', /two years/, JSON.stringify([documents.body, found.body]));

	const folder = await emptyFolder(t);
	const without = await runExecutable(
		['serve'],
		{ PARLEY_CACHE_DIR: cache, PARLEY_OCR: 'eng', PARLEY_PORT: '0' },
		folder,
	);
	assert.notEqual(without.code, 0);
	assert.match(without.err, /The single executable has no text recognition \(OCR\)\. Install tesseract\.js/);
});

test('accepts a closed output pipe, and parses its arguments itself instead of Node', {
	skip,
}, async (t) => {
	const folder = await emptyFolder(t);
	const cache = { PARLEY_CACHE_DIR: join(folder, 'cache') };
	const { code, err } = await runExecutable(['--eval', '1'], cache, folder);
	assert.equal(code, 2);
	assert.match(err, /there is no command "--eval 1"/);
	const piped = spawn('sh', ['-c', `'${executable}' --help | head -n 1`], {
		cwd: folder,
		env: { PATH: process.env.PATH, ...cache },
	});
	let out = '';
	piped.stdout.on('data', (bytes: Buffer) => {
		out += bytes.toString();
	});
	await new Promise((resolve) => piped.on('close', resolve));
	assert.equal(out, 'parley: a self-hosted assistant platform\n');
});

/** Uploads the five sample documents, waits until they are indexed, and gives the knowledge base's id. */
async function indexSamples(server: ServerProcess): Promise<string> {
	const { body } = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Samples' });
	const samples = join(root, 'data/samples');
	const names = (await readdir(samples)).filter((name) => name !== 'README.md');
	assert.deepEqual(names.map((name) => name.split('.').at(-1)).toSorted(), ['docx', 'html', 'md', 'pdf', 'txt']);
	for (const name of names) {
		const form = new FormData();
		form.append('file', new Blob([await readFile(join(samples, name))]), name);
		const { status } = await server.call('POST', `/api/v1/knowledge-bases/${body.id}/documents`, form);
		assert.equal(status, 201, name);
	}
	await until('the samples are indexed', async () => {
		const state = await server.call('GET', `/api/v1/knowledge-bases/${body.id}/status`);
		assert.notEqual(state.body.status, 'error', JSON.stringify(state.body));
		return state.body.documents_indexed === names.length;
	});
	return body.id;
}

test('is smaller than 150 MB and executable by all users', { skip }, async () => {
	const { size, mode } = await stat(executable);
	assert.ok(size < 150_000_000, `${size} bytes`);
	assert.equal(mode & 0o111, 0o111);
});
