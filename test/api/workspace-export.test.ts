import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { newId } from '../../src/base/index.ts';
import { assertRefused } from '../access/people.ts';
import { document } from '../store/samples.ts';
import { startTestApp } from '../support/app.ts';
import { addKey, firstWorkspace, openStoreDirectly } from './direct-store.ts';

const app = await startTestApp();
const store = await openStoreDirectly(app);
after(async () => {
	await store[Symbol.asyncDispose]();
	await app[Symbol.asyncDispose]();
});
const workspaceId = await firstWorkspace(store);

const EXPORT = '/api/v1/workspace/export';

async function download(): Promise<Response> {
	return fetch(app.url + EXPORT, { headers: { authorization: `Bearer ${app.key}` } });
}

// biome-ignore lint/suspicious/noExplicitAny: resources of every type
async function exportedLines(): Promise<{ type: string; resource: any }[]> {
	const text = await (await download()).text();
	assert.ok(text.endsWith('\n'));
	return text
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line));
}

const create = async (path: string, body: object) => {
	const response = await app.call('POST', path, body);
	assert.ok(response.status < 300, JSON.stringify(response.body));
	return response.body;
};

test('an export has each resource once, as the API shows it, and neither secrets nor passwords', async () => {
	const base = await create('/api/v1/knowledge-bases', { name: 'Kettles' });
	const text = { source_type: 'text', content: 'The warranty lasts three years.', title: 'Warranty' };
	const documentOf = await create(`/api/v1/knowledge-bases/${base.id}/documents`, text);
	const tool = await create('/api/v1/tools', {
		name: 'orders',
		description: 'Orders',
		type: 'api',
		config: { method: 'GET', url: 'https://orders.example', auth: { type: 'bearer', token: 'tok-never-shown' } },
	});
	const assistant = await create('/api/v1/assistants', { name: 'Exported' });
	const deployment = await create('/api/v1/deployments', { name: 'Shop', assistant_id: assistant.id });
	const webhook = await create('/api/v1/webhooks', { url: 'https://hooks.example/a', events: ['message.created'] });
	const reply = await create('/api/v1/canned-replies', { shortcut: 'hello', content: 'Good day!' });
	const user = await create('/api/v1/users', { email: 'ada@example.com', role: 'agent' });

	const response = await download();
	assert.equal(response.headers.get('content-type'), 'application/jsonl');
	assert.equal(response.headers.get('cache-control'), 'no-store');
	assert.equal(response.headers.get('content-disposition'), `attachment; filename="${workspaceId}.jsonl"`);
	const whole = await response.text();
	for (const secret of ['tok-never-shown', webhook.signing_secret, app.key, user.password_link.split('#')[1]]) {
		assert.equal(whole.includes(secret), false, secret);
	}
	assert.doesNotMatch(whole, /password_hash|password_link|"blob"|key_hash/);

	const lines = await exportedLines();
	const [first] = lines;
	assert.deepEqual([first?.type, first?.resource.format, first?.resource.version], ['export', 'parley-workspace', 1]);
	assert.deepEqual(lines.at(-1), { type: 'end', resource: { lines: lines.length } });
	const ids = lines.slice(1, -1).map(({ resource }) => resource.id);
	assert.equal(new Set(ids).size, ids.length);
	const shown = async (path: string) => (await app.call('GET', path)).body;
	const expected: [type: string, path: string][] = [
		['workspace', '/api/v1/workspace'],
		['knowledge_base', `/api/v1/knowledge-bases/${base.id}`],
		['document', `/api/v1/knowledge-bases/${base.id}/documents/${documentOf.id}`],
		['tool', `/api/v1/tools/${tool.id}`],
		['assistant', `/api/v1/assistants/${assistant.id}`],
		['deployment', `/api/v1/deployments/${deployment.id}`],
		['webhook', `/api/v1/webhooks/${webhook.id}`],
		['canned_reply', `/api/v1/canned-replies/${reply.id}`],
		['user', `/api/v1/users/${user.id}`],
	];
	for (const [type, path] of expected) {
		const resource = await shown(path);
		const line = lines.find((each) => each.type === type && each.resource.id === resource.id);
		// The indexing of the document goes on meanwhile.
		const { status: _s, updated_at: _u, ...rest } = resource;
		assert.ok(line, path);
		for (const field of ['name', 'title', 'url', 'email', 'content', 'config']) {
			assert.deepEqual(line.resource[field], rest[field], `${path} ${field}`);
		}
		assert.deepEqual(Object.keys(line.resource).sort(), Object.keys(resource).sort(), path);
	}
});

test('what exists during the whole export is in it once, while other resources come and go', async () => {
	const base = await create('/api/v1/knowledge-bases', { name: 'Many' });
	const now = Date.now();
	const records = Array.from({ length: 1_050 }, (_, at) =>
		// Several are of one millisecond, so that pages end between equal times.
		document({
			id: newId('document'),
			workspace_id: workspaceId,
			knowledge_base_id: base.id,
			created_at: now + Math.floor(at / 7),
			status: 'error',
		}),
	);
	for (let at = 0; at < records.length; at += 350) {
		const write = records
			.slice(at, at + 350)
			.map((record) => ({ op: 'insert' as const, kind: 'documents' as const, record }));
		await store.commit({ write });
	}
	const response = await download();
	const gone = records.slice(-5).map(({ id }) => id);
	await store.commit({ write: gone.map((id) => ({ op: 'remove' as const, kind: 'documents' as const, id })) });
	await create(`/api/v1/knowledge-bases/${base.id}/documents`, { source_type: 'text', content: 'New.', title: 'New' });
	const lines = (await response.text()).trimEnd().split('\n');
	const exported = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'document');
	const ids = exported.map(({ resource }) => resource.id);
	assert.equal(new Set(ids).size, ids.length);
	for (const { id } of records.slice(0, -5)) assert.ok(ids.includes(id));
	assert.equal(JSON.parse(lines.at(-1) ?? '').resource.lines, lines.length);
});

test('a key needs the scope of each area, and another workspace has its own export', async () => {
	const narrow = await addKey(store, workspaceId, ['settings:read', 'assistants:read']);
	const headers = { authorization: `Bearer ${narrow}` };
	assertRefused(await app.call('GET', EXPORT, undefined, headers), 403, 'insufficient_scope');
	const wide = await addKey(store, workspaceId, [
		'settings:read',
		'assistants:read',
		'knowledge_bases:read',
		'tools:read',
		'deployments:read',
		'conversations:read',
		'webhooks:read',
	]);
	const response = await fetch(app.url + EXPORT, { headers: { authorization: `Bearer ${wide}` } });
	assert.equal(response.status, 200);
	await response.text();
});

test('a revoked key ends its running export', async () => {
	const base = await create('/api/v1/knowledge-bases', { name: 'Long' });
	const documents = Array.from({ length: 3_000 }, (_, at) =>
		document({
			id: newId('document'),
			workspace_id: workspaceId,
			knowledge_base_id: base.id,
			created_at: at + 1,
			title: 'x'.repeat(500),
			url: `https://long.example/${'y'.repeat(1_500)}`,
			status: 'error',
		}),
	);
	for (let at = 0; at < documents.length; at += 500) {
		const write = documents
			.slice(at, at + 500)
			.map((record) => ({ op: 'insert' as const, kind: 'documents' as const, record }));
		await store.commit({ write });
	}
	const key = (await create('/api/v1/api-keys', { name: 'Exporter', scopes: ['*'] })) as { id: string; key: string };
	const response = await fetch(app.url + EXPORT, { headers: { authorization: `Bearer ${key.key}` } });
	assert.equal(response.status, 200);
	// The body is larger than the buffers of both sockets, so the export waits for the reader.
	assert.equal((await app.call('DELETE', `/api/v1/api-keys/${key.id}`)).status, 200);
	await assert.rejects(response.text());
});
