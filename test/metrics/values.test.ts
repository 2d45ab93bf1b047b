// Own process: it kills the process that parses documents.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { AppOverrides } from '../../src/app-overrides.ts';
import { deferred } from '../../src/base/index.ts';
import { createApiFixture, createResource, untilSettled } from '../api/fixture.ts';
import { openTestStream } from '../conversations/streams.ts';
import { PausablePool } from '../knowledge/pausable-pool.ts';
import { childProcesses } from '../pool/child-processes.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { valuesOf } from './values-of.ts';

/** The values of a metric by its labels. */
async function read(app: TestApp, name: string): Promise<Record<string, number>> {
	const response = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${app.key}` } });
	return valuesOf(await response.text(), name);
}

const untilValue = (app: TestApp, name: string, labels: string, value: number) =>
	until(`${name}${labels} is ${value}`, async () => (await read(app, name))[labels] === value);

/** A server whose assistants answer with the stand-in of a provider. */
async function startWithModels(models: ModelServer, overrides: AppOverrides = {}) {
	const settings = { providers: [models.provider()], default_model: 'stand-in/small', allow_private_network: true };
	return startTestApp({ settings, overrides });
}

test('counts the tokens that a provider reports, and the time to the first text of a reply', async () => {
	await using models = await ModelServer.start();
	await using app = await startWithModels(models);
	const { deployment } = await createApiFixture(app);
	let seconds = 0;
	const usages = [
		{ input: 40, output: 9 },
		{ input: 2, output: 1 },
	];
	for (const usage of usages) {
		models.enqueue([{ say: 'Well.' }, { finish: 'stop', usage }]);
		const content = 'How long does descaling take?';
		const { status, body } = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content });
		assert.equal(status, 201, JSON.stringify(body));
		seconds += body.first_token_ms / 1_000;
	}
	const model = 'model="stand-in/small"';
	assert.deepEqual(await read(app, 'parley_tokens_total'), {
		[`{${model},direction="input"}`]: 42,
		[`{${model},direction="output"}`]: 10,
	});
	assert.deepEqual(await read(app, 'parley_reply_first_token_seconds_count'), { [`{${model}}`]: 2 });
	const { [`{${model}}`]: sum = Number.NaN } = await read(app, 'parley_reply_first_token_seconds_sum');
	assert.ok(Math.abs(sum - seconds) < 1e-9, `${sum} is not ${seconds}`);
});

test('counts open streams, and the messages that wait for a conversation', async () => {
	await using models = await ModelServer.start();
	await using app = await startWithModels(models);
	const { deployment: deployment_id } = await createApiFixture(app);
	const { body: first } = await app.call('POST', '/api/v1/messages', { deployment_id, content: 'Hello.' });
	const { conversation_id } = first;
	await untilValue(app, 'parley_http_open_streams', '', 0);
	const stream = await openTestStream(`${app.url}/api/v1/conversations/${conversation_id}/events`, {
		headers: { authorization: `Bearer ${app.key}` },
	});
	assert.deepEqual(await read(app, 'parley_http_open_streams'), { '': 1 });
	stream.disconnect();
	await untilValue(app, 'parley_http_open_streams', '', 0);

	const answered = deferred<void>();
	models.enqueue([{ wait: answered.promise }, { say: 'Now.' }]);
	const send = (content: string) => app.call('POST', '/api/v1/messages', { deployment_id, conversation_id, content });
	const replies = [send('Wait.')];
	await models.call(1);
	replies.push(send('One.'), send('Two.'));
	await untilValue(app, 'parley_actor_waiting_messages', '{kind="conversation"}', 2);
	answered.resolve();
	for (const { status } of await Promise.all(replies)) assert.equal(status, 201);
	assert.deepEqual(await read(app, 'parley_actor_waiting_messages'), {
		'{kind="conversation"}': 0,
		'{kind="deployment"}': 0,
	});
});

test('counts event streams that have ended, and the responses whose client has left', async () => {
	await using app = await startTestApp();
	const { deployment: deployment_id } = await createApiFixture(app);
	const { body } = await app.call('POST', '/api/v1/messages', { deployment_id, content: 'Hello.' });
	const path = `/api/v1/conversations/${body.conversation_id}/events`;
	const { '{outcome="client_left"}': before = 0 } = await read(app, 'parley_http_incomplete_responses_total');
	const streams = '{route="/api/v1/conversations/{id}/events"}';
	assert.equal((await read(app, 'parley_http_streams_total'))[streams], undefined);
	for (let ended = 1; ended <= 2; ended++) {
		const stream = await openTestStream(app.url + path, { headers: { authorization: `Bearer ${app.key}` } });
		stream.disconnect();
		await untilValue(app, 'parley_http_streams_total', streams, ended);
		await untilValue(app, 'parley_http_incomplete_responses_total', '{outcome="client_left"}', before + ended);
	}
	const requests = await read(app, 'parley_http_request_duration_seconds_count');
	assert.deepEqual(
		Object.keys(requests).filter((labels) => labels.includes('/events')),
		[],
		'a stream has no duration',
	);
});

test('shows the circuit of a model as open, on trial, and not at all once it is closed', async () => {
	await using models = await ModelServer.start();
	const clock = new ManualClock(Date.now());
	await using app = await startWithModels(models, { clock });
	const { deployment: deployment_id } = await createApiFixture(app);
	const ask = () => app.call('POST', '/api/v1/messages', { deployment_id, content: 'Hello?' });
	const circuits = () => read(app, 'parley_provider_circuit_open');
	models.setDefault([{ status: 500, headers: { 'retry-after': '60' } }]);
	for (let at = 0; at < 4; at++) await ask();
	assert.deepEqual(await circuits(), {});
	await ask();
	const labels = '{provider="stand-in",model="small"}';
	assert.deepEqual(await circuits(), { [labels]: 1 });
	clock.advance(9_999);
	assert.deepEqual(await circuits(), { [labels]: 1 });
	clock.advance(1);
	assert.deepEqual(await circuits(), { [labels]: 0.5 }, 'the next call is permitted');
	const answered = deferred<void>();
	models.setDefault([{ wait: answered.promise }, { say: 'Back.' }]);
	const trial = ask();
	await models.call(5);
	assert.deepEqual(await circuits(), { [labels]: 0.5 });
	answered.resolve();
	assert.equal((await trial).body.content, 'Back.');
	assert.deepEqual(await circuits(), {});
});

test('counts attempts of deliveries by outcome, and the time from an event to its delivery', async () => {
	// Failed deliveries are tried again only when the clock moves.
	const clock = new ManualClock(Date.now());
	await using app = await startTestApp({ settings: { allow_private_network: true }, overrides: { clock } });
	await using failing = await startReceiver(app, ['assistant.updated']);
	failing.respond = () => ({ status: 500 });
	await using working = await startReceiver(app, ['assistant.updated']);
	working.respond = async () => {
		await failing.waitFor(1);
		await untilValue(app, 'parley_webhook_attempts_total', '{outcome="failed"}', 1);
		clock.advance(2_000);
		return { status: 204 };
	};
	const assistant = await createResource(app, '/api/v1/assistants', { name: 'Guide' });
	await app.call('PATCH', `/api/v1/assistants/${assistant}`, { name: 'Helper' });
	await untilValue(app, 'parley_webhook_attempts_total', '{outcome="delivered"}', 1);
	assert.deepEqual(await read(app, 'parley_webhook_attempts_total'), {
		'{outcome="failed"}': 1,
		'{outcome="delivered"}': 1,
	});
	assert.deepEqual(await read(app, 'parley_webhook_delivery_lag_seconds_sum'), { '': 2 });
	const buckets = await read(app, 'parley_webhook_delivery_lag_seconds_bucket');
	assert.deepEqual([buckets['{le="1"}'], buckets['{le="5"}']], [0, 1]);
});

test('counts jobs, and how long the oldest that has not begun waits', async () => {
	await using pool = new PausablePool();
	await using app = await startTestApp({ overrides: { pool } });
	const base = await createResource(app, '/api/v1/knowledge-bases', { name: 'Shop' });
	assert.deepEqual(await read(app, 'parley_jobs'), {});
	pool.pause();
	const add = () =>
		createResource(app, `/api/v1/knowledge-bases/${base}/documents`, { source_type: 'text', content: 'A kettle.' });
	await add();
	await until('it is being processed', () => pool.waiting === 1);
	const [jobs, oldest] = ['parley_jobs', 'parley_job_oldest_seconds'];
	assert.deepEqual(
		[await read(app, jobs), await read(app, oldest)],
		[{ '{kind="ingest"}': 1 }, { '{kind="ingest"}': 0 }],
	);
	// More than are processed concurrently.
	const more = pool.size + 2;
	for (let at = 0; at < more; at++) await add();
	assert.equal((await read(app, jobs))['{kind="ingest"}'], 1 + more);
	const seconds = await until('the last one has waited for a second', async () => {
		const { '{kind="ingest"}': value = 0 } = await read(app, oldest);
		return value >= 1 && value;
	});
	assert.ok(seconds < 3_600, `${seconds} s`);
	pool.resume();
	await untilSettled(app, base);
	await until('no document waits', async () => (await read(app, 'parley_jobs'))['{kind="ingest"}'] === undefined);
});

test('counts the process that parses documents when it was killed', async () => {
	// A pool of this server alone, as in production.
	await using app = await startTestApp({ overrides: { pool: undefined } as object });
	const base = await createResource(app, '/api/v1/knowledge-bases', { name: 'Shop' });
	const add = () =>
		createResource(app, `/api/v1/knowledge-bases/${base}/documents`, { source_type: 'text', content: 'A kettle.' });
	assert.deepEqual(await read(app, 'parley_worker_restarts_total'), {});
	const others = await childProcesses();
	await add();
	const [own] = await until('the process has started', async () => {
		const found = (await childProcesses()).filter((pid) => !others.includes(pid));
		return found.length > 0 && found;
	});
	process.kill(own as number, 'SIGKILL');
	await untilValue(app, 'parley_worker_restarts_total', '{worker="parse"}', 1);
	await add();
	const { documents_indexed } = await untilSettled(app, base);
	assert.equal(documents_indexed, 2);
});

test('each commit is in one batch, and the event loop has a delay', async () => {
	await using app = await startTestApp();
	const names = ['A', 'B', 'C', 'D'];
	await Promise.all(names.map((name) => createResource(app, '/api/v1/assistants', { name })));
	const { '': commits = 0 } = await read(app, 'parley_commit_duration_seconds_count');
	assert.ok(commits >= names.length, `${commits} commits`);
	const batches = async () => ({
		count: (await read(app, 'parley_commit_batch_size_count'))[''] ?? 0,
		commits: (await read(app, 'parley_commit_batch_size_sum'))[''] ?? 0,
	});
	const { count, commits: inBatches } = await batches();
	assert.ok(
		count > 0 && count <= inBatches && inBatches >= commits,
		`${commits} commits, ${inBatches} in ${count} batches`,
	);
	for (const name of ['nodejs_eventloop_lag_seconds', 'nodejs_eventloop_lag_p99_seconds']) {
		const { '': seconds = Number.NaN } = await read(app, name);
		assert.ok(seconds >= 0, `${name} is ${seconds}`);
	}
});
