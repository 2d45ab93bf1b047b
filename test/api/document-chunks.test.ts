import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test, { after } from 'node:test';
import { Cursors } from '../../src/api/cursors.ts';
import { documentHandlers } from '../../src/api/documents.ts';
import type { Page } from '../../src/contract/index.ts';
import type { Store } from '../../src/store/index.ts';
import { startTestApp } from '../support/app.ts';
import { firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createApiFixture, createResource, untilSettled } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const TEXT = Array.from(
	{ length: 60 },
	(_, at) => `Part ${at} of the kettle is made of steel and lasts for years.`,
).join('\n\n');

/** A store that calls back after the first read of each request. */
function interrupted(store: Store, happen: () => Promise<void>): Store {
	return new Proxy(store, {
		get(target, name) {
			if (name === 'get') {
				return async (...args: Parameters<Store['get']>) => {
					const record = await target.get(...args);
					if (args[0] === 'knowledge_bases') await happen();
					return record;
				};
			}
			const value: unknown = Reflect.get(target, name);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	});
}

test('returns the chunks of a document while a reindex replaces the index', async () => {
	const { knowledgeBase } = await createApiFixture(app, { texts: [TEXT] });
	const path = `/api/v1/knowledge-bases/${knowledgeBase}`;
	const [document] = (await app.call('GET', `${path}/documents`)).body.data;
	const before = (await app.call('GET', `${path}/documents/${document.id}/chunks`)).body;
	assert.ok(before.data.length > 1);

	await using beside = await openStoreDirectly(app);
	const generations = new Set<string>();
	const store = interrupted(beside, async () => {
		assert.equal((await app.call('POST', `${path}/reindex`)).status, 200);
		assert.equal((await untilSettled(app, knowledgeBase)).status, 'ready');
		generations.add((await beside.get('knowledge_bases', knowledgeBase))?.generation as string);
	});
	const { listDocumentChunks } = documentHandlers({
		store,
		cursors: new Cursors(randomBytes(32)),
		documents: {} as never,
		network: {} as never,
		maxUploadBytes: 0,
	});
	const list = listDocumentChunks as unknown as (call: object) => Promise<Page<{ id: string }>>;
	const page = await list({
		caller: { workspaceId: await firstWorkspace(beside) },
		params: { id: knowledgeBase, doc_id: document.id },
		query: { limit: 20 },
	});
	assert.deepEqual(page.data, before.data);
	assert.ok(generations.size > 0, 'the index changed after the knowledge base was read');
});

test('returns the chunks of a document once it is indexed, and only in its own knowledge base', async () => {
	const knowledgeBase = await createResource(app, '/api/v1/knowledge-bases', { name: 'Empty' });
	const path = `/api/v1/knowledge-bases/${knowledgeBase}/documents`;
	const id = await createResource(app, path, { source_type: 'text', content: 'A kettle.' });
	assert.equal((await app.call('GET', `${path}/${id}/chunks`)).status, 200);
	await untilSettled(app, knowledgeBase);
	assert.equal((await app.call('GET', `${path}/${id}/chunks`)).body.data.length, 1);
	const other = (await createApiFixture(app)).knowledgeBase;
	const elsewhere = await app.call('GET', `/api/v1/knowledge-bases/${other}/documents/${id}/chunks`);
	assert.equal(elsewhere.status, 404);
});
