import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import test from 'node:test';
import { findProgram } from '../support/programs.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const BASES = '/api/v1/knowledge-bases';
const skip = process.platform !== 'linux' && 'there is no /proc here';

/** Uploads a text and waits until it is indexed. */
async function index(server: ServerProcess, base: string, text: string): Promise<void> {
	const { status, body } = await server.call('POST', `${BASES}/${base}/documents`, {
		source_type: 'text',
		content: text,
	});
	assert.equal(status, 201, JSON.stringify(body));
	await until('it is indexed', async () => {
		const { body: document } = await server.call('GET', `${BASES}/${base}/documents/${body.id}`);
		assert.notEqual(document.status, 'error', JSON.stringify(document));
		return document.status === 'indexed';
	});
}

/** The processes that a process has started. */
async function childrenOf(pid: number): Promise<number[]> {
	const threads = await readdir(`/proc/${pid}/task`);
	const lines = await Promise.all(
		threads.map((id) => readFile(`/proc/${pid}/task/${id}/children`, 'utf8').catch(() => '')),
	);
	return lines.flatMap((line) =>
		line
			.split(' ')
			.map(Number)
			.filter((child) => child > 0),
	);
}

const hasEnded = async (pid: number) => {
	const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
	return stat === null || stat.includes(') Z ');
};

test('the parsing process starts with the first document, has no file or socket of the server, and ends with it', {
	skip,
}, async () => {
	await using server = await startServer({ env: { SOME_SECRET: 'not to be handed on' } });
	assert.deepEqual(await childrenOf(server.pid), [], 'none runs before there is a document');
	const { body: base } = await server.call('POST', BASES, { name: 'Shop' });
	await index(server, base.id, 'Green kettles hold two litres.');
	const [child, ...others] = await childrenOf(server.pid);
	assert.ok(child !== undefined && others.length === 0);
	const names = await readdir(`/proc/${child}/fd`);
	const open = await Promise.all(names.map((name) => readlink(`/proc/${child}/fd/${name}`).catch(() => '')));
	assert.deepEqual(
		open.filter((path) => path.startsWith(server.dataDir)),
		[],
		'neither the database nor an upload',
	);
	const servers = new Set(
		await Promise.all(
			(await readdir(`/proc/${server.pid}/fd`)).map((name) =>
				readlink(`/proc/${server.pid}/fd/${name}`).catch(() => ''),
			),
		),
	);
	assert.deepEqual(
		open.filter((path) => path.startsWith('socket:') && servers.has(path)),
		[],
	);
	const environment = await readFile(`/proc/${child}/environ`, 'utf8');
	assert.doesNotMatch(environment, /SECRET|PARLEY/);
	await server.kill();
	await until('the parsing process has ended too', () => hasEnded(child));
});

test('the parsing process starts when the bytes of an upload begin to arrive, and parses it', { skip }, async () => {
	await using server = await startServer();
	const { body: base } = await server.call('POST', BASES, { name: 'Shop' });
	const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nGreen kettles ';
	const rest = 'hold two litres.\r\n--b--\r\n';
	const upload = request(`${server.url}${BASES}/${base.id}/documents`, {
		method: 'POST',
		headers: {
			authorization: `Bearer ${server.key}`,
			'content-type': 'multipart/form-data; boundary=b',
			'content-length': head.length + rest.length,
		},
	});
	const answered = once(upload, 'response');
	upload.write(head);
	const [child] = await until('the process has started', async () => {
		const children = await childrenOf(server.pid);
		return children.length > 0 && children;
	});
	upload.end(rest);
	const [response] = await answered;
	assert.equal(response.statusCode, 201);
	response.resume();
	await until('it is indexed', async () => {
		const { body } = await server.call('GET', `${BASES}/${base.id}/status`);
		return body.documents_indexed === 1;
	});
	assert.deepEqual(await childrenOf(server.pid), [child]);
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('replaces a killed parsing process while the server keeps running', { skip }, async () => {
	await using server = await startServer();
	const { body: base } = await server.call('POST', BASES, { name: 'Shop' });
	await index(server, base.id, 'Green kettles hold two litres.');
	const [child] = await childrenOf(server.pid);
	process.kill(child as number, 'SIGKILL');
	await index(server, base.id, 'Red kettles hold three litres.');
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('parses a document again and indexes it when the parsing process was killed', { skip }, async () => {
	await using server = await startServer();
	const { body: base } = await server.call('POST', BASES, { name: 'Shop' });
	await index(server, base.id, 'Green kettles hold two litres.');
	const [child] = await childrenOf(server.pid);
	// A stopped process keeps the document until it is killed.
	process.kill(child as number, 'SIGSTOP');
	const { body: document } = await server.call('POST', `${BASES}/${base.id}/documents`, {
		source_type: 'text',
		content: 'Red kettles hold three litres.',
	});
	const status = async () => (await server.call('GET', `${BASES}/${base.id}/documents/${document.id}`)).body.status;
	await until('it is being processed', async () => (await status()) === 'processing');
	process.kill(child as number, 'SIGKILL');
	await until('it is indexed', async () => (await status()) === 'indexed');
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('HTML bombs end in an error while another document is indexed and the server responds', async () => {
	await using server = await startServer();
	const { body: base } = await server.call('POST', BASES, { name: 'Shop' });
	const upload = async (name: string, bytes: string): Promise<string> => {
		const form = new FormData();
		form.set('file', new Blob([bytes], { type: 'text/html' }), name);
		const { status, body } = await server.call('POST', `${BASES}/${base.id}/documents`, form);
		assert.equal(status, 201, JSON.stringify(body));
		return body.id;
	};
	const attributes = Array.from({ length: 330_000 }, (_, at) => `a${at}="value"`).join(' ');
	const [paragraphs, tag, innocent] = await Promise.all([
		upload('paragraphs.html', '<p>a'.repeat(2_000_000)),
		upload('attributes.html', `<p ${attributes}>a</p>`),
		upload('innocent.html', '<p>Green kettles hold two litres.</p>'),
	]);
	const status = await until('nothing is being indexed any more', async () => {
		const { status: code, body } = await server.call('GET', `${BASES}/${base.id}/status`);
		assert.equal(code, 200);
		return body.status !== 'indexing' && body;
	});
	assert.deepEqual([status.documents_indexed, status.documents_failed], [1, 2]);
	const ends = await Promise.all(
		[paragraphs, tag, innocent].map(async (id) => {
			const { body } = await server.call('GET', `${BASES}/${base.id}/documents/${id}`);
			return [body.status, body.error?.code ?? null];
		}),
	);
	assert.deepEqual(ends, [
		['error', 'resource_limit'],
		['error', 'resource_limit'],
		['indexed', null],
	]);
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('a server without free descriptors responds with 503 when it needs a thread, and recovers', {
	skip: skip || (findProgram('prlimit') === null && 'skipped: there is no prlimit'),
}, async () => {
	await using server = await startServer({ env: { PARLEY_LOG_LEVEL: 'error' } });
	const { body: base } = await server.call('POST', BASES, { name: 'Shop' });
	await index(server, base.id, 'Green kettles hold two litres.');
	const connection = new KeptConnection(server);
	const search = () => connection.post(`${BASES}/${base.id}/search`, { query: 'kettles' });
	// The connection is open before there is no descriptor for one.
	assert.equal((await connection.post(BASES, { name: 'Second' })).status, 201);
	const open = (await readdir(`/proc/${server.pid}/fd`)).length;
	const limit = (soft: number | string) =>
		assert.equal(spawnSync('prlimit', ['--pid', String(server.pid), `--nofile=${soft}:`]).status, 0);
	const before = spawnSync('prlimit', ['--pid', String(server.pid), '--nofile', '--output=SOFT', '--noheadings']);
	limit(open);
	const refused = await search();
	assert.deepEqual([refused.status, refused.body.error?.code], [503, 'unavailable']);
	await until('the log says why', () => /EMFILE/.test(server.output()));
	// A thread may fail at any step of its start: with more descriptors it gets further. Node loses one at some of them.
	let answered = refused;
	for (let spare = 1; answered.status !== 200; spare *= 2) {
		assert.deepEqual([answered.status, answered.body.error?.code], [503, 'unavailable']);
		assert.ok(spare < 1000);
		limit(open + spare);
		answered = await search();
	}
	limit(before.stdout.toString().trim());
	assert.equal(answered.body.data.length, 1);
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

/** One connection over which all requests go. */
class KeptConnection {
	readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
	readonly #server: ServerProcess;

	constructor(server: ServerProcess) {
		this.#server = server;
	}

	// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind
	async post(path: string, body: unknown): Promise<{ status: number; body: any }> {
		const answer = await new Promise<IncomingMessage>((resolve, reject) => {
			const sent = request(this.#server.url + path, {
				method: 'POST',
				agent: this.#agent,
				headers: { authorization: `Bearer ${this.#server.key}`, 'content-type': 'application/json' },
			});
			sent.on('response', resolve);
			sent.on('error', reject);
			sent.end(JSON.stringify(body));
		});
		let text = '';
		for await (const bytes of answer) text += bytes;
		return { status: answer.statusCode ?? 0, body: JSON.parse(text) };
	}
}
