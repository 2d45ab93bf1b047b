import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import test from 'node:test';
import { sleep } from '../../src/base/index.ts';
import { type RecordedEvent, recordedEvents, recount } from '../statistics/recount.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { createRestartableServer } from './restartable-server.ts';

const KILLS = 12;
const MESSAGES = 40;
/** The inbox and the statistics work at other moments: a kill may come at any of them. */
const MAX_DELAY_MS = 1_500;

test('a server killed repeatedly while it fills the inbox and the statistics counts every event once', async (t) => {
	const restartable = await createRestartableServer(t);
	const began = Date.now();
	let deployment = '';
	let sent = 0;
	for (let kill = 0; kill < KILLS; kill++) {
		await using server = await restartable.start();
		deployment ||= await prepare(server);
		await Promise.all(
			Array.from({ length: MESSAGES }, (_, at) =>
				server.call('POST', '/api/v1/messages', {
					deployment_id: deployment,
					content: `Where is order ${sent + at}?`,
				}),
			),
		);
		sent += MESSAGES;
		// Some kills come while the inbox has a reader that waits.
		if (kill % 3 === 0) void server.call('GET', '/api/v1/inbox?limit=1').catch(() => {});
		await sleep(randomInt(0, MAX_DELAY_MS));
		assert.equal((await server.kill()).signal, 'SIGKILL', server.output());
	}

	await using server = await restartable.start();
	await assertInbox(server, sent);
	await assertStatistics(server, recordedEvents(restartable.dataDir), began);
});

async function prepare(server: ServerProcess): Promise<string> {
	const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Scene' });
	const deployment = await server.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
	assert.equal(deployment.status, 201);
	return deployment.body.id;
}

/** Each question is one conversation of the inbox, is found once, and has its reply as the last message. */
async function assertInbox(server: ServerProcess, sent: number): Promise<void> {
	const listed = await allPages(server, '/api/v1/inbox?limit=100');
	assert.equal(listed.length, sent);
	assert.ok(listed.every(({ last_message, unread_count }) => last_message.role === 'assistant' && unread_count === 2));
	const found = await allPages(server, '/api/v1/inbox?limit=100&search=order');
	assert.equal(new Set(found.map(({ conversation }) => conversation.id)).size, sent);
	for (const number of [0, Math.floor(sent / 2), sent - 1]) {
		const { body } = await server.call('GET', `/api/v1/inbox?search=${encodeURIComponent(`"order ${number}"`)}`);
		assert.equal(body.data.length, 1, `order ${number}`);
	}
}

async function assertStatistics(server: ServerProcess, events: RecordedEvent[], began: number): Promise<void> {
	const hour = 3_600_000;
	const span = { from: Math.floor(began / hour) * hour, to: (Math.floor(Date.now() / hour) + 1) * hour };
	const times = { from: new Date(span.from).toISOString(), to: new Date(span.to).toISOString() };
	const { status, body } = await server.call(
		'GET',
		`/api/v1/stats?${new URLSearchParams({ ...times, interval: 'hour' })}`,
	);
	assert.equal(status, 200, JSON.stringify(body));
	const { first_token_ms: _first, duration_ms: _whole, ...figures } = body.total;
	assert.deepEqual(figures, recount(events, span).figures);
}

async function allPages(server: ServerProcess, path: string) {
	const entries = [];
	for (let cursor: string | null = ''; cursor !== null; ) {
		const { body } = await server.call('GET', cursor === '' ? path : `${path}&cursor=${cursor}`);
		entries.push(...body.data);
		cursor = body.next_cursor;
	}
	return entries;
}
