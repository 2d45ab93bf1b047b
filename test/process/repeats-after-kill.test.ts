import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { sleep } from '../../src/base/index.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const CUTS = 5;
const BATCH = 40;

/** What was asked for under each key, and the answer where one came before the server was killed. */
interface Request {
	key: string;
	path: string;
	body: { [name: string]: unknown };
	answered: string | null;
}

test('a server killed between a change and its response makes the change once', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-repeats-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const requests: Request[] = [];
	let key: string | undefined;
	let deployment = '';
	let unanswered = 0;

	for (let cut = 0; cut < CUTS; cut++) {
		await using server = await startServer({ dataDir: folder, ...(key === undefined ? {} : { key }) });
		key = server.key;
		deployment ||= await prepare(server);
		const before = requests.filter(({ answered }) => answered !== null).length;
		const batch = Array.from({ length: BATCH }, (_, index) => newRequest(`${cut} ${index}`, index, deployment));
		requests.push(...batch);
		const sending = Promise.all(batch.map((request) => send(server, request)));
		await until('the first is answered', () => requests.filter(({ answered }) => answered !== null).length > before);
		await sleep(randomInt(0, 15));
		assert.equal((await server.kill()).signal, 'SIGKILL', server.output());
		await sending;
		unanswered += batch.filter(({ answered }) => answered === null).length;
	}

	await using server = await startServer({ dataDir: folder, ...(key === undefined ? {} : { key }) });
	t.diagnostic(`${requests.length} requests, ${unanswered} of them without an answer`);
	const repeats = await Promise.all(
		requests.map(async (request) => {
			const repeat = { ...request, answered: null };
			await send(server, repeat);
			assert.notEqual(repeat.answered, null);
			if (request.answered !== null) assert.equal(repeat.answered, request.answered);
			return repeat;
		}),
	);
	const ids = (path: string) =>
		repeats.filter((one) => one.path === path).map(({ answered }) => JSON.parse(answered ?? '').id as string);
	const made = ids('/api/v1/assistants');
	// The one of the scene is there besides.
	assert.equal((await all(server, '/api/v1/assistants')).length, made.length + 1);
	assert.equal(new Set(made).size, made.length);
	const conversations = await all(server, '/api/v1/conversations');
	assert.equal(conversations.length, ids('/api/v1/messages').length);
	assert.ok(conversations.every(({ message_count }) => message_count === 2));
});

function newRequest(key: string, index: number, deployment_id: string): Request {
	return index % 2 === 0
		? { key, path: '/api/v1/assistants', body: { name: key }, answered: null }
		: { key, path: '/api/v1/messages', body: { deployment_id, content: `Question ${key}?` }, answered: null };
}

async function prepare(server: ServerProcess): Promise<string> {
	const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Scene' });
	const deployment = await server.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
	assert.equal(deployment.status, 201);
	return deployment.body.id;
}

async function send(server: ServerProcess, request: Request): Promise<void> {
	try {
		const response = await fetch(server.url + request.path, {
			method: 'POST',
			headers: {
				authorization: `Bearer ${server.key}`,
				'content-type': 'application/json',
				'idempotency-key': request.key,
			},
			body: JSON.stringify(request.body),
		});
		const text = await response.text();
		assert.equal(response.status, 201, text);
		request.answered = text;
	} catch (error) {
		// No answer came: the server was killed.
		if (error instanceof assert.AssertionError) throw error;
	}
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind
async function all(server: ServerProcess, path: string): Promise<any[]> {
	const items = [];
	for (let cursor: string | null = ''; cursor !== null; ) {
		const { body } = await server.call('GET', `${path}?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
		items.push(...body.data);
		cursor = body.next_cursor;
	}
	return items;
}
