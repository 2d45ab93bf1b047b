import assert from 'node:assert/strict';
import test from 'node:test';
import { addUser, startAppWithUsers } from '../access/people.ts';
import { createApiFixture, createResource } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { freePort } from '../support/listening.ts';
import { until } from '../support/until.ts';
import { valuesOf } from './values-of.ts';

test('GET /metrics needs a key with the scope settings:read', async () => {
	await using app = await startTestApp();
	const read = (key: string) => fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
	const { body: other } = await app.call('POST', '/api/v1/api-keys', { name: 'Chat', scopes: ['messages:write'] });
	assert.equal((await fetch(`${app.url}/metrics`)).status, 401);
	assert.equal((await read(other.key)).status, 403);
	const answer = await read(app.key);
	assert.deepEqual(
		[answer.status, answer.headers.get('content-type')],
		[200, 'text/plain; version=0.0.4; charset=utf-8'],
	);
	assert.match(await answer.text(), /^parley_info\{version=".+"\} 1$/m);
});

test('GET /metrics is for the sessions of owners and admins, too, and of no other role', async () => {
	await using people = await startAppWithUsers();
	for (const [role, status] of [
		['owner', 200],
		['admin', 200],
		['member', 403],
		['agent', 403],
		['viewer', 403],
	] as const) {
		await addUser(people.app, `${role}@shop.example`, role);
		const { cookie } = await people.signIn(`${role}@shop.example`);
		const answer = await fetch(`${people.app.url}/metrics`, { headers: { cookie: `parley_session=${cookie}` } });
		assert.equal(answer.status, status, role);
	}
});

test('counts requests, messages, replies, commits, searches and documents', async () => {
	await using app = await startTestApp();
	const { deployment, assistant } = await createApiFixture(app);
	const base = await createResource(app, '/api/v1/knowledge-bases', { name: 'Shop' });
	await createResource(app, `/api/v1/knowledge-bases/${base}/documents`, {
		source_type: 'text',
		content: 'The Lumen kettle is made of steel and costs forty euros.',
	});
	await app.call('POST', `/api/v1/assistants/${assistant}/knowledge-bases`, { knowledge_base_id: base });
	await until('the document is indexed', async () => {
		return (await app.call('GET', `/api/v1/knowledge-bases/${base}`)).body.status === 'ready';
	});
	for (const content of ['What is the Lumen kettle made of?', 'What does it cost?']) {
		const { status } = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content });
		assert.equal(status, 201);
	}
	const metrics = await (await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${app.key}` } })).text();
	const requests = valuesOf(metrics, 'parley_http_request_duration_seconds_count');
	assert.equal(requests['{method="POST",route="/api/v1/messages",status="201"}'], 2);
	assert.deepEqual(valuesOf(metrics, 'parley_messages_total'), { '{author="visitor"}': 2, '{author="model"}': 2 });
	const replies = Object.entries(valuesOf(metrics, 'parley_replies_total'));
	assert.equal(
		replies.reduce((sum, [, count]) => sum + count, 0),
		2,
	);
	assert.ok(
		replies.every(([labels]) => labels.includes('model="builtin/extractive"')),
		JSON.stringify(replies),
	);
	assert.deepEqual(valuesOf(metrics, 'parley_reply_duration_seconds_count'), { '{model="builtin/extractive"}': 2 });
	assert.equal(valuesOf(metrics, 'parley_documents')['{state="indexed"}'], 1);
	assert.ok((valuesOf(metrics, 'parley_search_duration_seconds_count')[''] ?? 0) >= 2);
	assert.ok((valuesOf(metrics, 'parley_commit_duration_seconds_count')[''] ?? 0) > 4);
	assert.equal(valuesOf(metrics, 'parley_store_writable')[''], 1);
	const files = valuesOf(metrics, 'parley_store_file_bytes');
	assert.ok((files['{file="database"}'] ?? 0) + (files['{file="wal"}'] ?? 0) > 100_000, JSON.stringify(files));
	assert.equal(valuesOf(metrics, 'parley_actors')['{kind="conversation"}'], 2);
	assert.ok((valuesOf(metrics, 'process_resident_memory_bytes')[''] ?? 0) > 1e7);
	assert.doesNotMatch(metrics, /(conv|asst|dep|kb|doc|msg|ws)_[0-9a-z]{10}|Lumen/, 'no id and no text of a customer');
});

test('a listener of its own serves the metrics without a key, and the main one no longer', async () => {
	const port = await freePort();
	await using app = await startTestApp({ settings: { metrics_listen: `127.0.0.1:${port}` } });
	const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
	assert.equal(answer.status, 200);
	assert.match(await answer.text(), /parley_http_open_connections/);
	assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 404);
	assert.equal((await app.call('GET', '/metrics').catch(() => ({ status: 404 }))).status, 404);
	await assert.rejects(startTestApp({ settings: { metrics_listen: `127.0.0.1:${port}` } }), /PARLEY_METRICS_LISTEN/);
});

test('methods that a client invents share one series', async () => {
	await using app = await startTestApp();
	for (const method of ['BREW', 'STEEP', 'POUR']) await fetch(`${app.url}/api/v1/assistants`, { method });
	const metrics = await (await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${app.key}` } })).text();
	const counts = Object.entries(valuesOf(metrics, 'parley_http_request_duration_seconds_count'));
	assert.deepEqual(
		counts.filter(([labels]) => labels.includes('status="405"')),
		[['{method="any",route="/api/v1/assistants",status="405"}', 3]],
	);
});
