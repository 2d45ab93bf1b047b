import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { startBaseline } from '../../bench/baseline/index.ts';
import { startMessageCeilingProcess } from '../../bench/ceiling/messages/index.ts';
import { DEPLOYMENT, ORIGIN } from '../../bench/config/deployments.ts';
import { deploy } from '../../bench/load/deploy.ts';
import type { ModelScript } from '../../bench/load/model-script.ts';
import { deployScripted, messagesTo, startLoad, startModel, sustainStreams } from '../../bench/messages/processes.ts';
import { startTestApp } from '../support/app.ts';

const INSTANT: ModelScript = { firstTokenMs: 0, tokenIntervalMs: 0, tokens: 5 };

async function temporary(): Promise<AsyncDisposable & { folder: string }> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-baseline-'));
	return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

test('the server that Parley is compared with answers the same configuration to the same pages', async () => {
	await using place = await temporary();
	await using app = await startTestApp();
	using baseline = await startBaseline(place.folder, null);
	const ask = async (url: string, deployment: string, origin: string) => {
		const response = await fetch(`${url}/api/v1/widget/config?deployment_id=${deployment}`, { headers: { origin } });
		const { deployment_id, assistant_id, ...config } = (await response.json()) as Record<string, unknown>;
		const { error } = config as { error?: { code: string } };
		const headers = ['access-control-allow-origin', 'access-control-expose-headers', 'vary', 'cache-control'];
		const sent = error === undefined ? headers.map((name) => response.headers.get(name)) : null;
		return { status: response.status, config: error === undefined ? config : error.code, sent };
	};
	const assistantId = (await app.call('POST', '/api/v1/assistants', { name: 'Bench' })).body.id;
	const made = await app.call('POST', '/api/v1/deployments', { assistant_id: assistantId, ...DEPLOYMENT });
	const deploymentId = await deploy(baseline, { model: 'none' }, DEPLOYMENT);
	for (const origin of [ORIGIN, 'https://de.shop.example', 'https://other.example', 'https://badshop.example']) {
		const answer = await ask(`http://127.0.0.1:${baseline.port}`, deploymentId, origin);
		assert.deepEqual(answer, await ask(app.url, made.body.id, origin), origin);
		assert.equal(answer.status, /shop\.example$/.test(origin) && !origin.includes('bad') ? 200 : 403);
	}
});

test('the server that Parley is compared with streams whole replies and stores the messages', async () => {
	await using place = await temporary();
	using model = await startModel();
	using load = startLoad();
	using baseline = await startBaseline(place.folder, model.port);
	const deployment = await deployScripted(baseline, INSTANT);
	const amount = { streams: 2, spreadMs: 1, seconds: 0.1 };
	const seen = await sustainStreams(load, messagesTo(baseline, deployment, amount));
	assert.ok(seen.completed > 0);
	assert.ok(seen.tokens >= INSTANT.tokens, `${seen.tokens} tokens came`);

	const ask = (content: string, conversation_id?: string) =>
		baseline.call('POST', '/api/v1/messages', { deployment_id: deployment, content, conversation_id });
	const { status, body } = await ask('Where is my order?');
	assert.equal(status, 200);
	assert.match(body.message.content, /^@.*~( word~){4}$/);
	assert.equal((await ask('And now?', body.conversation_id)).body.conversation_id, body.conversation_id);
	assert.equal((await ask('And now?', 'conv_unknown')).status, 404);
});

test('the message ceiling stores each streamed message with seven events in two commits', async () => {
	await using place = await temporary();
	using model = await startModel();
	using load = startLoad();
	for (const asksEarly of [false, true]) {
		const file = join(place.folder, `ceiling-${asksEarly}.db`);
		using ceiling = await startMessageCeilingProcess({ file, modelPort: model.port, asksEarly });
		const deployment = await deployScripted(ceiling, INSTANT);
		const seen = await sustainStreams(load, messagesTo(ceiling, deployment, { streams: 2, spreadMs: 1, seconds: 0.1 }));
		assert.ok(seen.completed > 0);
		assert.ok(seen.tokens >= INSTANT.tokens, `${seen.tokens} tokens came`);
		using db = openDatabase(file);
		const count = (sql: string) => db.count(sql);
		const conversations = count('SELECT count(*) AS n FROM conversations');
		assert.ok(conversations >= seen.completed);
		assert.equal(count('SELECT count(*) AS n FROM messages'), 2 * conversations);
		assert.equal(count("SELECT count(*) AS n FROM messages WHERE role = 'assistant' AND content = ''"), 0);
		assert.equal(count('SELECT count(*) AS n FROM events'), 7 * conversations);
	}
});

function openDatabase(file: string): Disposable & { count(sql: string): number } {
	const db = new Database(file, { readonly: true });
	return {
		count: (sql) => (db.prepare(sql).get() as { n: number }).n,
		[Symbol.dispose]: () => void db.close(),
	};
}
