import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { eventsOf, type ReceivedEvent } from '../support/event-stream.ts';
import { program, type ServerProcess, startServer } from '../support/server-process.ts';

const QUESTIONS = 60;
const LIMIT_MS = 30_000;

test('a server that gets a signal to stop finishes its running replies and exits with 0', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-stop-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	let key: string;
	const streams: ReceivedEvent[][] = [];
	{
		await using server = await startServer({ dataDir: folder });
		key = server.key;
		const deployment = await deploy(server);
		let begun = () => {};
		const underWay = new Promise<void>((resolve) => {
			begun = resolve;
		});
		const asked = Array.from({ length: QUESTIONS }, async (_, index) => {
			const events: ReceivedEvent[] = [];
			try {
				for await (const event of eventsOf(await ask(server, deployment, `Where is shelf ${index}?`))) {
					if (events.push(event) === 1) streams.push(events);
					begun();
				}
			} catch (error) {
				// Requests that came too late are refused; a stream that has begun must not break.
				if (events.length > 0) throw error;
			}
		});
		await underWay;
		const toldAt = performance.now();
		assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
		assert.ok(performance.now() - toldAt < LIMIT_MS);
		await Promise.all(asked);
	}

	assert.ok(streams.length > 0);
	for (const events of streams) assert.equal(events.at(-1)?.event, 'message.completed');
	await using again = await startServer({ dataDir: folder, key });
	for (const events of streams) {
		const { message } = events.at(-1)?.data ?? {};
		const { body } = await again.call('GET', `/api/v1/conversations/${message.conversation_id}/messages`);
		const stored = body.data.find(({ id }: { id: string }) => id === message.id);
		assert.deepEqual([stored?.status, stored?.content], ['completed', message.content]);
	}
	const { body } = await again.call('GET', '/api/v1/conversations?limit=100');
	for (const { id } of body.data) {
		const { body: history } = await again.call('GET', `/api/v1/conversations/${id}/messages`);
		const open = history.data.filter(({ status }: { status: string }) => status === 'in_progress');
		assert.deepEqual(open, [], 'no reply is left open');
	}
});

test('a server that gets a signal to stop during its start exits in order', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-stop-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const env = {
		PATH: process.env.PATH,
		PARLEY_DATA_DIR: folder,
		PARLEY_PORT: '0',
		PARLEY_PRINT_KEY: '1',
		...program.env,
	};
	const server = spawn(program.command, program.args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
	t.after(() => server.kill('SIGKILL'));
	let printed = '';
	for (const stream of [server.stdout, server.stderr]) {
		stream.on('data', (bytes: Buffer) => {
			// The key is printed as soon as it is stored, before the server takes requests.
			if (!printed.includes('API key:') && bytes.includes('API key:')) server.kill('SIGTERM');
			printed += bytes.toString();
		});
	}
	const [code, signal] = await once(server, 'close', { signal: AbortSignal.timeout(LIMIT_MS) });
	assert.deepEqual([code, signal], [0, null], printed);
	assert.match(printed, /SIGTERM: finishing what runs/);
	const log = await stat(join(folder, 'parley.db-wal')).catch(() => ({ size: 0 }));
	assert.equal(log.size, 0, 'everything is in the database itself');
});

test('open connections and event streams of clients do not delay the stop', async () => {
	await using server = await startServer();
	const deployment = await deploy(server);
	const events: ReceivedEvent[] = [];
	for await (const event of eventsOf(await ask(server, deployment, 'Hello?'))) events.push(event);
	const conversation = events.at(-1)?.data.message.conversation_id;
	const follower = await fetch(`${server.url}/api/v1/conversations/${conversation}/events`, {
		headers: { authorization: `Bearer ${server.key}` },
	});
	assert.equal(follower.status, 200);
	const followed = (async () => {
		for await (const _ of eventsOf(follower)) {
			// Nothing more happens in this conversation.
		}
	})().catch(() => {});
	const toldAt = performance.now();
	assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
	assert.ok(performance.now() - toldAt < LIMIT_MS / 2, 'nothing was running, so there was nothing to wait for');
	await followed;
});

async function deploy(server: ServerProcess): Promise<string> {
	const base = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Storehouse' });
	const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Storekeeper' });
	await server.call('POST', `/api/v1/assistants/${assistant.body.id}/knowledge-bases`, {
		knowledge_base_id: base.body.id,
	});
	const { status, body } = await server.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
	assert.equal(status, 201);
	return body.id;
}

function ask(server: ServerProcess, deployment: string, content: string): Promise<Response> {
	return fetch(`${server.url}/api/v1/messages`, {
		method: 'POST',
		headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
		body: JSON.stringify({ deployment_id: deployment, content, stream: true }),
	});
}
