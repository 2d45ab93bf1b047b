import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import Database from 'better-sqlite3';
import { databaseFile } from '../../src/store/index.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { createApiFixture, createResource, untilProcessed, upload } from './fixture.ts';

const held = new ManualModel({ autoReply: () => ['Said the model.'] });
const app = await startTestApp({
	settings: { allow_private_network: true },
	overrides: { providers: [held.provider] },
});
after(() => app[Symbol.asyncDispose]());

/** A request with an Idempotency-Key, and the stored data that it changes. */
interface Change {
	path: string;
	body?: unknown;
	/** A query for the data. */
	data: string;
}

async function post(path: string, body?: unknown) {
	const response = await app.call('POST', path, body);
	assert.ok(response.status < 300, `${path}: ${JSON.stringify(response.body)}`);
	return response.body;
}

/** A request of every operation that changes data and takes an Idempotency-Key. */
async function changesOfEveryKind(): Promise<Change[]> {
	const since = new Date(Date.now() - 60_000).toISOString();
	const { knowledgeBase, assistant, deployment } = await createApiFixture(app, { model: 'scripted/any' });
	const tool = { name: 'lookup', type: 'api', config: { method: 'GET', url: 'https://tools.example/' } };
	const toolId = await createResource(app, '/api/v1/tools', { ...tool, name: 'other' });
	const emptyBase = await createResource(app, '/api/v1/knowledge-bases', { name: 'Empty' });
	const { body: broken } = await upload(app, knowledgeBase, 'broken.pdf', { bytes: '%PDF-1.7 and nothing else' });
	assert.equal((await untilProcessed(app, knowledgeBase, broken.id)).status, 'error');
	const user = await createResource(app, '/api/v1/users', { email: 'ada@shop.example' });
	const hook = await startReceiver(app, ['assistant.updated']);
	const other = await startReceiver(app, ['assistant.updated']);
	const siteBase = await createResource(app, '/api/v1/knowledge-bases', { name: 'Site' });
	const sources = `/api/v1/knowledge-bases/${siteBase}/sources`;
	const source = { type: 'url', url: `${app.url}/`, refresh_hours: null };
	const [refreshed, paused, resumed] = await Promise.all([1, 2, 3].map(() => createResource(app, sources, source)));
	await until('no run changes a source', async () => {
		const { body } = await app.call('GET', sources);
		return body.data.every(({ status }: { status: string }) => status === 'idle' || status === 'error');
	});
	after(() => Promise.all([hook[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]));
	const message = { deployment_id: deployment, content: 'Hello?' };
	const reply = await post('/api/v1/messages', message);
	for (const content of ['Is there a toaster?', 'Do you deliver to Norway?']) {
		const quoting = await createApiFixture(app);
		await post('/api/v1/messages', { deployment_id: quoting.deployment, content });
	}
	const groups = (await app.call('GET', '/api/v1/stats/unanswered')).body.data as Array<{ id: string }>;
	const [resolvable = { id: '' }, dismissible = { id: '' }] = groups;
	const [free, taken, released] = await Promise.all([1, 2, 3].map(() => post('/api/v1/messages', message)));
	for (const { conversation_id } of [taken, released]) await post(`/api/v1/conversations/${conversation_id}/takeover`);

	const count = (table: string) => `SELECT count(*) FROM ${table}`;
	const version = (table: string, id: string) => `SELECT version FROM ${table} WHERE id = '${id}'`;
	const handler = (id: string) => `SELECT handled_by FROM conversations WHERE id = '${id}'`;
	const documents = `/api/v1/knowledge-bases/${knowledgeBase}/documents`;
	return [
		{ path: '/api/v1/assistants', body: { name: 'Second' }, data: count('assistants') },
		{ path: '/api/v1/knowledge-bases', body: { name: 'Second' }, data: count('knowledge_bases') },
		{ path: '/api/v1/tools', body: tool, data: count('tools') },
		{
			path: '/api/v1/webhooks',
			body: { url: 'https://receiver.example/', events: ['conversation.closed'] },
			data: count('webhooks'),
		},
		{ path: '/api/v1/api-keys', body: {}, data: count('api_keys') },
		{ path: '/api/v1/users', body: { email: 'grace@shop.example' }, data: count('users') },
		{ path: `/api/v1/users/${user}/password-link`, data: version('users', user) },
		{ path: `/api/v1/users/${user}/reset-totp`, data: version('users', user) },
		{ path: '/api/v1/deployments', body: { assistant_id: assistant }, data: count('deployments') },
		{ path: documents, body: { source_type: 'text', content: 'Tea.' }, data: count('documents') },
		{ path: documents, body: { source_type: 'url', url: `${app.url}/` }, data: count('documents') },
		{ path: `${documents}/${broken.id}/retry`, data: version('documents', broken.id) },
		{ path: sources, body: source, data: count('sources') },
		{ path: `${sources}/${refreshed}/refresh`, data: `SELECT updated_at FROM sources WHERE id = '${refreshed}'` },
		{ path: `${sources}/${paused}/pause`, data: `SELECT state FROM sources WHERE id = '${paused}'` },
		{ path: `${sources}/${resumed}/resume`, data: version('sources', resumed as string) },
		{ path: `/api/v1/knowledge-bases/${emptyBase}/reindex`, data: version('knowledge_bases', emptyBase) },
		{
			path: `/api/v1/assistants/${assistant}/knowledge-bases`,
			body: { knowledge_base_id: emptyBase },
			data: version('assistants', assistant),
		},
		{
			path: `/api/v1/assistants/${assistant}/tools`,
			body: { tool_id: toolId },
			data: version('assistants', assistant),
		},
		{ path: `${hook.path}/rotate-secret`, data: version('webhooks', hook.id) },
		{
			path: `${other.path}/replay`,
			body: { since },
			data: `SELECT count(*) FROM deliveries WHERE webhook_id = '${other.id}'`,
		},
		{ path: '/api/v1/messages', body: message, data: count('messages') },
		{
			path: `/api/v1/stats/unanswered/${resolvable.id}/resolve`,
			body: {},
			data: version('question_groups', resolvable.id),
		},
		{
			path: `/api/v1/stats/unanswered/${dismissible.id}/dismiss`,
			data: version('question_groups', dismissible.id),
		},
		{
			path: `/api/v1/messages/${reply.id}/feedback`,
			body: { rating: 'up' },
			data: `SELECT feedback FROM messages WHERE id = '${reply.id}'`,
		},
		{ path: `/api/v1/conversations/${free.conversation_id}/takeover`, data: handler(free.conversation_id) },
		{ path: `/api/v1/conversations/${released.conversation_id}/release`, data: handler(released.conversation_id) },
		{
			path: `/api/v1/conversations/${taken.conversation_id}/messages`,
			body: { content: 'Kim here.' },
			data: count('messages'),
		},
		{
			path: `/api/v1/conversations/${taken.conversation_id}/read`,
			body: {},
			data: count('inbox_reads'),
		},
		{ path: '/api/v1/inbox/read', data: count('inbox_readers') },
		{ path: `/api/v1/conversations/${free.conversation_id}/notes`, body: { content: 'Hm.' }, data: count('notes') },
		{ path: '/api/v1/canned-replies', body: { shortcut: 'hi', content: 'Hello!' }, data: count('canned_replies') },
	];
}

test('stores the response for repeats in the transaction of the change, in every operation', async (t) => {
	const changes = await changesOfEveryKind();
	const db = new Database(databaseFile(app.dataDir));
	t.after(() => db.close());
	const dataOf = ({ data }: Change) => db.prepare(data).pluck().get();
	const send = ({ path, body }: Change, at: number) =>
		app.call('POST', path, body, { 'idempotency-key': `change ${at}` });

	// As a crash between the change and its response would be: the change must not be there without the response.
	db.exec(`CREATE TRIGGER crash BEFORE INSERT ON idempotency BEGIN SELECT RAISE(ABORT, 'no response is stored'); END`);
	for (const [at, change] of changes.entries()) {
		const before = dataOf(change);
		const { status } = await send(change, at);
		assert.ok(status >= 500, `${change.path}: ${status}`);
		assert.equal(dataOf(change), before, `${change.path} was changed without its response`);
	}
	db.exec('DROP TRIGGER crash');
	for (const [at, change] of changes.entries()) {
		const before = dataOf(change);
		const first = await send(change, at);
		assert.ok(first.status < 300, `${change.path}: ${JSON.stringify(first.body)}`);
		assert.notEqual(dataOf(change), before, `${change.path} changes the data`);
		const repeat = await send(change, at);
		assert.deepEqual([repeat.body, repeat.headers.get('idempotent-replayed')], [first.body, 'true'], change.path);
	}
});
