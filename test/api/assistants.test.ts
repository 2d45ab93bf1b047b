import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { eventsSoFar, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createResource } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const ASSISTANTS = '/api/v1/assistants';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('returns a new assistant with its defaults, and reads it back unchanged', async () => {
	const { status, body } = await app.call('POST', ASSISTANTS, { name: 'Guide' });
	assert.equal(status, 201);
	const { id, created_at, updated_at, ...rest } = body;
	assert.match(id, /^asst_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.match(created_at, TIME);
	assert.equal(updated_at, created_at);
	assert.deepEqual(rest, {
		name: 'Guide',
		description: null,
		master_prompt: '',
		model: 'builtin/extractive',
		rag_settings: {
			top_k: 5,
			min_score: 0,
			min_confidence: null,
			answer_policy: 'prefer_documents',
			query_rewrite: 'auto',
		},
		redaction: [],
		status: 'active',
		knowledge_base_ids: [],
		tool_ids: [],
		archived_at: null,
	});
	const read = await app.call('GET', `${ASSISTANTS}/${id}`);
	assert.deepEqual([read.status, read.body], [200, body]);
});

test('applies defaults to RAG settings that a new assistant leaves out', async () => {
	const { body } = await app.call('POST', ASSISTANTS, { name: 'Guide', rag_settings: { top_k: 50 } });
	assert.deepEqual(body.rag_settings, {
		top_k: 50,
		min_score: 0,
		min_confidence: null,
		answer_policy: 'prefer_documents',
		query_rewrite: 'auto',
	});
});

test('a change replaces the kinds that an assistant redacts, and other changes keep them', async () => {
	const { body } = await app.call('POST', ASSISTANTS, { name: 'Guide', redaction: ['phone', 'email'] });
	assert.deepEqual(body.redaction, ['phone', 'email']);
	const change = async (fields: object) => (await app.call('PATCH', `${ASSISTANTS}/${body.id}`, fields)).body.redaction;
	assert.deepEqual(await change({ name: 'Other' }), ['phone', 'email']);
	assert.deepEqual(await change({ redaction: ['card'] }), ['card']);
	assert.deepEqual(await change({ redaction: [] }), []);
});

test('merges nested objects field by field and keeps fields that a change does not name', async () => {
	const { body: before } = await app.call('POST', ASSISTANTS, {
		name: 'Guide',
		description: 'First',
		master_prompt: 'Be brief.',
		rag_settings: { top_k: 3, min_score: 0.2 },
	});
	const { status, body } = await app.call('PATCH', `${ASSISTANTS}/${before.id}`, {
		rag_settings: { min_score: 0.4 },
		description: null,
	});
	assert.equal(status, 200);
	assert.deepEqual(body, {
		...before,
		description: null,
		rag_settings: {
			top_k: 3,
			min_score: 0.4,
			min_confidence: null,
			answer_policy: 'prefer_documents',
			query_rewrite: 'auto',
		},
		updated_at: body.updated_at,
	});
	assert.ok(body.updated_at >= before.updated_at);
	assert.deepEqual((await app.call('GET', `${ASSISTANTS}/${before.id}`)).body, body);
});

test('an empty change changes nothing', async () => {
	const { body: before } = await app.call('POST', ASSISTANTS, { name: 'Guide' });
	const { status, body } = await app.call('PATCH', `${ASSISTANTS}/${before.id}`, {});
	assert.deepEqual([status, { ...body, updated_at: before.updated_at }], [200, before]);
});

test('deletion archives an assistant, repeats without error, and a patch reactivates it', async () => {
	const { body: before } = await app.call('POST', ASSISTANTS, { name: 'Guide' });
	const archived = await app.call('DELETE', `${ASSISTANTS}/${before.id}`);
	assert.equal(archived.status, 200);
	assert.equal(archived.body.status, 'archived');
	assert.match(archived.body.archived_at, TIME);
	const again = await app.call('DELETE', `${ASSISTANTS}/${before.id}`);
	assert.deepEqual([again.status, again.body], [200, archived.body]);

	const active = await app.call('PATCH', `${ASSISTANTS}/${before.id}`, { status: 'active' });
	assert.deepEqual([active.body.status, active.body.archived_at], ['active', null]);
	const patched = await app.call('PATCH', `${ASSISTANTS}/${before.id}`, { status: 'archived' });
	assert.equal(patched.body.status, 'archived');
	assert.match(patched.body.archived_at, TIME);
});

test('filters the list by status', async () => {
	const active = await createResource(app, ASSISTANTS, { name: 'Stays' });
	const archived = await createResource(app, ASSISTANTS, { name: 'Goes' });
	await app.call('DELETE', `${ASSISTANTS}/${archived}`);
	const idsWith = async (query: string) => {
		const { status, body } = await app.call('GET', `${ASSISTANTS}?limit=100${query}`);
		assert.equal(status, 200);
		return body.data.map(({ id }: { id: string }) => id);
	};
	const [all, only, gone] = [await idsWith(''), await idsWith('&status=active'), await idsWith('&status=archived')];
	assert.ok(all.includes(active) && all.includes(archived));
	assert.ok(only.includes(active) && !only.includes(archived));
	assert.ok(!gone.includes(active) && gone.includes(archived));
});

test('attaches and detaches a knowledge base once, however often it is requested', async () => {
	const assistant = await createResource(app, ASSISTANTS, { name: 'Guide' });
	const knowledge_base_id = await createResource(app, '/api/v1/knowledge-bases', { name: 'Manuals' });
	const path = `${ASSISTANTS}/${assistant}/knowledge-bases`;
	for (let time = 0; time < 2; time++) {
		const { status, body } = await app.call('POST', path, { knowledge_base_id });
		assert.deepEqual([status, body.knowledge_base_ids], [200, [knowledge_base_id]]);
	}
	const detached = await app.call('DELETE', `${path}/${knowledge_base_id}`);
	assert.deepEqual([detached.status, detached.body.knowledge_base_ids], [200, []]);
	const again = await app.call('DELETE', `${path}/${knowledge_base_id}`);
	assert.deepEqual([again.status, again.body.error.code], [404, 'not_found']);
});

test('attaches twenty knowledge bases in concurrent requests', async () => {
	const assistant = await createResource(app, ASSISTANTS, { name: 'Guide' });
	const ids = await Promise.all(
		Array.from({ length: 20 }, (_, at) => createResource(app, '/api/v1/knowledge-bases', { name: `Manual ${at}` })),
	);
	const path = `${ASSISTANTS}/${assistant}/knowledge-bases`;
	const responses = await Promise.all(ids.map((knowledge_base_id) => app.call('POST', path, { knowledge_base_id })));
	assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
	const { body } = await app.call('GET', `${ASSISTANTS}/${assistant}`);
	assert.deepEqual([...body.knowledge_base_ids].sort(), [...ids].sort());
});

test('rejects the attachment of a resource that does not exist', async () => {
	const assistant = await createResource(app, ASSISTANTS, { name: 'Guide' });
	for (const knowledge_base_id of [`kb_${'0'.repeat(32)}`, 'kb_short', assistant]) {
		const { status, body } = await app.call('POST', `${ASSISTANTS}/${assistant}/knowledge-bases`, {
			knowledge_base_id,
		});
		assert.deepEqual([status, body.error.code], [404, 'not_found'], knowledge_base_id);
	}
});

test('rejects a model that is not configured, at creation and at a change, and names it', async () => {
	const made = await app.call('POST', ASSISTANTS, { name: 'Guide', model: 'acme/large' });
	assert.deepEqual([made.status, made.body.error.code], [400, 'unknown_model']);
	assert.match(made.body.error.message, /acme\/large/);
	const id = await createResource(app, ASSISTANTS, { name: 'Guide' });
	const changed = await app.call('PATCH', `${ASSISTANTS}/${id}`, { model: 'extractive' });
	assert.deepEqual([changed.status, changed.body.error.code], [400, 'unknown_model']);
	assert.equal((await app.call('GET', `${ASSISTANTS}/${id}`)).body.model, 'builtin/extractive');
});

test('rejects values out of bounds and names the field', async () => {
	const refused: Array<[body: unknown, path: string]> = [
		[{}, '/name'],
		[{ name: '' }, '/name'],
		[{ name: 'x'.repeat(201) }, '/name'],
		[{ name: 7 }, '/name'],
		[{ name: 'Guide', master_prompt: 'x'.repeat(32_001) }, '/master_prompt'],
		[{ name: 'Guide', rag_settings: { top_k: 0 } }, '/rag_settings/top_k'],
		[{ name: 'Guide', rag_settings: { top_k: 51 } }, '/rag_settings/top_k'],
		[{ name: 'Guide', rag_settings: { top_k: 2.5 } }, '/rag_settings/top_k'],
		[{ name: 'Guide', rag_settings: { min_score: 1.1 } }, '/rag_settings/min_score'],
		[{ name: 'Guide', rag_settings: { min_confidence: 1.1 } }, '/rag_settings/min_confidence'],
		[{ name: 'Guide', rag_settings: { min_confidence: '0.5' } }, '/rag_settings/min_confidence'],
		[{ name: 'Guide', rag_settings: null }, '/rag_settings'],
		[{ name: 'Guide', redaction: ['iban'] }, '/redaction/0'],
		[{ name: 'Guide', redaction: ['email', 'email'] }, '/redaction'],
		[{ name: 'Guide', redaction: true }, '/redaction'],
		[{ name: 'Guide', status: 'archived' }, '/status'],
		[{ name: 'Guide', colour: 'red' }, '/colour'],
		[[], ''],
	];
	for (const [body, path] of refused) {
		const response = await app.call('POST', ASSISTANTS, body);
		assert.deepEqual([response.status, response.body.error.code], [400, 'invalid_request'], JSON.stringify(body));
		assert.deepEqual(
			response.body.error.details.map((detail: { path: string }) => detail.path),
			[path],
		);
	}
});

test("every change of an assistant emits assistant.updated with the assistant's new state", async () => {
	const { body: made } = await app.call('POST', ASSISTANTS, { name: 'Told' });
	const knowledge_base_id = await createResource(app, '/api/v1/knowledge-bases', { name: 'Manuals' });
	const path = `${ASSISTANTS}/${made.id}`;
	const states = [
		await app.call('PATCH', path, { name: 'Told again' }),
		await app.call('POST', `${path}/knowledge-bases`, { knowledge_base_id }),
		await app.call('DELETE', `${path}/knowledge-bases/${knowledge_base_id}`),
		await app.call('DELETE', path),
	].map(({ body }) => body);
	await using store = await openStoreDirectly(app);
	const events = await eventsSoFar(store, await firstWorkspace(store), 'assistant.updated');
	const emitted = events.filter(({ data }) => (data as { id: string }).id === made.id);
	assert.deepEqual(
		emitted.map(({ data }) => data),
		states,
	);
	assert.ok(emitted.every(({ id }) => /^evt_/.test(id)));
});
