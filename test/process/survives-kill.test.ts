import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { sleep, withDeadline } from '../../src/base/index.ts';
import { eventsOf } from '../support/event-stream.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const CUTS = 5;
const manual = new URL('../../data/samples/brook-kettle-manual.pdf', import.meta.url);

/** What the server has acknowledged so far, over all its lives. */
interface Acknowledged {
	assistants: Map<string, string>;
	documents: Map<string, string>;
	/** User messages: id → conversation and content. */
	messages: Map<string, { conversation: string; content: string }>;
	/** Replies that were announced as complete: id → content. */
	replies: Map<string, { conversation: string; content: string }>;
}

test('a server killed at any moment loses nothing that it has acknowledged', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-kill-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const file = await readFile(manual);
	const known: Acknowledged = { assistants: new Map(), documents: new Map(), messages: new Map(), replies: new Map() };
	let place: Place | undefined;
	let key: string | undefined;

	for (let cut = 0; cut < CUTS; cut++) {
		await using server = await startServer({ dataDir: folder, ...(key === undefined ? {} : { key }) });
		key = server.key;
		place ??= await prepare(server);
		const stop = new AbortController();
		const before = count(known);
		const at = place;
		const work = [
			repeat(200, server, stop.signal, () => createAssistant(server, known)),
			repeat(4, server, stop.signal, () => uploadFile(server, known, at, file)),
			repeat(15, server, stop.signal, () => addText(server, known, at)),
			repeat(100, server, stop.signal, () => ask(server, known, at)),
			repeat(100, server, stop.signal, () => askStreamed(server, known, at)),
			repeat(100, server, stop.signal, () => askStreamed(server, known, at)),
		];
		// Not before something of this life is acknowledged, in the last one something of each kind; then at any moment of what goes on.
		const isLast = cut === CUTS - 1;
		await until('work is under way', () => count(known) > before && (!isLast || hasEachKind(known)), 60_000);
		const delay = randomInt(0, 600);
		await sleep(delay);
		assert.equal((await server.kill()).signal, 'SIGKILL', server.output());
		stop.abort();
		await Promise.all(work);
		await using recovering = await startServer({ dataDir: folder, key });
		// At once, while the work that the previous kill interrupted is being resumed.
		await recovering.kill();
		t.diagnostic(`cut ${cut + 1} after ${delay} ms of work; ${count(known)} acknowledged in all`);
	}

	await using server = await startServer({ dataDir: folder, ...(key === undefined ? {} : { key }) });
	assert.ok(place);
	for (const [id, name] of known.assistants) {
		const { status, body } = await server.call('GET', `/api/v1/assistants/${id}`);
		assert.deepEqual({ status, name: body.name }, { status: 200, name });
	}
	await checkDocuments(server, known, place);
	await checkConversations(server, known);
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

interface Place {
	base: string;
	deployment: string;
}

async function prepare(server: ServerProcess): Promise<Place> {
	const base = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Cut' });
	const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Cut' });
	await server.call('POST', `/api/v1/assistants/${assistant.body.id}/knowledge-bases`, {
		knowledge_base_id: base.body.id,
	});
	const deployment = await server.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
	assert.equal(deployment.status, 201);
	return { base: base.body.id, deployment: deployment.body.id };
}

/** Runs `step` up to `times` times, one after the other, until the signal or the server's end. */
async function repeat(times: number, server: ServerProcess, signal: AbortSignal, step: () => Promise<void>) {
	for (let done = 0; done < times && !signal.aborted; done++) {
		try {
			await step();
		} catch (error) {
			if (error instanceof assert.AssertionError) throw error;
			// The kill cut the connection: the running request is neither acknowledged nor refused. Nothing else cuts one.
			await withDeadline(server.exited, 120_000, () => error as Error);
			return;
		}
	}
}

let serial = 0;

async function createAssistant(server: ServerProcess, known: Acknowledged): Promise<void> {
	const name = `Assistant ${serial++}`;
	const { status, body } = await server.call('POST', '/api/v1/assistants', { name });
	assert.equal(status, 201);
	known.assistants.set(body.id, name);
}

async function uploadFile(server: ServerProcess, known: Acknowledged, place: Place, file: Buffer): Promise<void> {
	const title = `Manual ${serial++}`;
	const form = new FormData();
	form.set('title', title);
	// Comments after the end make each file a different one, which has to be parsed.
	form.set('file', new Blob([file, `\n% ${title}\n`]), 'manual.pdf');
	const { status, body } = await server.call('POST', `/api/v1/knowledge-bases/${place.base}/documents`, form);
	assert.equal(status, 201, JSON.stringify(body));
	known.documents.set(body.id, title);
}

async function addText(server: ServerProcess, known: Acknowledged, place: Place): Promise<void> {
	const title = `Note ${serial++}`;
	const { status, body } = await server.call('POST', `/api/v1/knowledge-bases/${place.base}/documents`, {
		source_type: 'text',
		title,
		content: `${title} says that shelf ${serial} of the storehouse holds kettles of the colour number ${serial * 7}.`,
	});
	assert.equal(status, 201, JSON.stringify(body));
	known.documents.set(body.id, title);
}

async function ask(server: ServerProcess, known: Acknowledged, place: Place): Promise<void> {
	const content = `How do I descale kettle number ${serial++}?`;
	const { status, body } = await server.call('POST', '/api/v1/messages', { deployment_id: place.deployment, content });
	assert.equal(status, 201, JSON.stringify(body));
	known.messages.set(body.user_message.id, { conversation: body.conversation_id, content });
	known.replies.set(body.id, { conversation: body.conversation_id, content: body.content });
}

async function askStreamed(server: ServerProcess, known: Acknowledged, place: Place): Promise<void> {
	const content = `What does error code E${(serial++ % 5) + 1} mean?`;
	const response = await fetch(`${server.url}/api/v1/messages`, {
		method: 'POST',
		headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
		body: JSON.stringify({ deployment_id: place.deployment, content, stream: true }),
	});
	assert.equal(response.status, 200);
	for await (const { event, data } of eventsOf(response)) {
		const { message } = data;
		if (event === 'message.created' && message.role === 'user') {
			known.messages.set(message.id, { conversation: message.conversation_id, content });
		} else if (event === 'message.completed') {
			known.replies.set(message.id, { conversation: message.conversation_id, content: message.content });
		}
	}
}

function count(known: Acknowledged): number {
	return known.assistants.size + known.documents.size + known.messages.size + known.replies.size;
}

function hasEachKind(known: Acknowledged): boolean {
	return Object.values(known).every((items) => items.size > 0);
}

async function checkDocuments(server: ServerProcess, known: Acknowledged, place: Place): Promise<void> {
	const status = await until(
		'no document is being processed',
		async () => {
			const { body } = await server.call('GET', `/api/v1/knowledge-bases/${place.base}/status`);
			return body.status !== 'indexing' && body;
		},
		300_000,
	);
	assert.equal(status.status, 'ready');
	assert.equal(status.documents_indexed, status.documents_total);
	const documents = new Map<string, { title: string; status: string; chunk_count: number }>();
	for await (const document of pages(server, `/api/v1/knowledge-bases/${place.base}/documents`)) {
		documents.set(document.id, document);
		assert.equal(document.status, 'indexed', JSON.stringify(document));
		assert.ok(document.chunk_count > 0);
	}
	for (const [id, title] of known.documents) assert.equal(documents.get(id)?.title, title);
}

async function checkConversations(server: ServerProcess, known: Acknowledged): Promise<void> {
	const stored = new Map<string, { content: string; conversation_id: string }>();
	for await (const { id } of pages(server, '/api/v1/conversations')) {
		const messages = await until(`the question of conversation ${id} is answered`, async () => {
			const { body } = await server.call('GET', `/api/v1/conversations/${id}/messages?limit=100`);
			const open = body.data.some((message: { status: string }) => message.status === 'in_progress');
			return !open && body.data.length === 2 && body.data;
		});
		assert.deepEqual(
			messages.map((message: { role: string }) => message.role),
			['user', 'assistant'],
			'each question has one answer',
		);
		for (const message of messages) {
			stored.set(message.id, message);
			// A reply that two kills cut off is given up, and says so; every other one is finished.
			if (message.status === 'failed') assert.equal(message.error.code, 'interrupted');
			else assert.equal(message.status, 'completed');
		}
	}
	for (const [id, { conversation, content }] of [...known.messages, ...known.replies]) {
		const message = stored.get(id);
		assert.deepEqual([message?.content, message?.conversation_id], [content, conversation]);
	}
}

/** All items of a list. */
// biome-ignore lint/suspicious/noExplicitAny: lists of several resources
async function* pages(server: ServerProcess, path: string): AsyncGenerator<any> {
	let cursor: string | null = null;
	do {
		const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
		const { status, body } = await server.call('GET', `${path}?limit=100${query}`);
		assert.equal(status, 200);
		yield* body.data;
		cursor = body.next_cursor;
	} while (cursor !== null);
}
