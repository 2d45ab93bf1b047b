import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { openReadOnly } from '../../src/store/sqlite/index.ts';
import { startTestApp } from '../support/app.ts';
import { openStoreDirectly } from './direct-store.ts';
import { createApiFixture, createResource, SAMPLES, untilSettled, untilTrained, upload } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const BASES = '/api/v1/knowledge-bases';

/** The sample documents in one knowledge base, indexed. */
const shop = await createResource(app, BASES, { name: 'Shop' });
for (const name of SAMPLES) assert.equal((await upload(app, shop, name)).status, 201);
await untilSettled(app, shop);
// A training changes the results of searches.
await untilTrained(app, shop);

const search = async (base: string, body: Record<string, unknown>) => {
	const response = await app.call('POST', `${BASES}/${base}/search`, body);
	assert.equal(response.status, 200, JSON.stringify(response.body));
	return response.body.data;
};

test('returns a new knowledge base with its defaults and status ready', async () => {
	const { status, body } = await app.call('POST', BASES, { name: 'Manuals' });
	assert.equal(status, 201);
	const { id, created_at, updated_at, ...rest } = body;
	assert.match(id, /^kb_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.equal(new Date(created_at).toISOString(), created_at);
	assert.equal(updated_at, created_at);
	assert.deepEqual(rest, {
		name: 'Manuals',
		description: null,
		search_settings: { hybrid: true, semantic_weight: 0.5, semantic_weight_source: 'auto' },
		status: 'ready',
		document_count: 0,
		documents_failed: 0,
		searchable: false,
	});
	assert.deepEqual((await app.call('GET', `${BASES}/${id}`)).body, body);
	assert.deepEqual((await app.call('GET', `${BASES}/${id}/status`)).body, {
		status: 'ready',
		documents_total: 0,
		documents_indexed: 0,
		documents_failed: 0,
		searchable: false,
		last_indexed_at: null,
		trained_at: null,
		embedder: null,
		reindex_required: false,
		reindex: null,
		problem: null,
	});
});

test('merges search settings field by field', async () => {
	const { body: made } = await app.call('POST', BASES, { name: 'x', search_settings: { semantic_weight: 0.2 } });
	assert.deepEqual(made.search_settings, { hybrid: true, semantic_weight: 0.2, semantic_weight_source: 'set' });
	const { status, body } = await app.call('PATCH', `${BASES}/${made.id}`, {
		search_settings: { hybrid: false },
		description: 'About kettles',
	});
	assert.equal(status, 200);
	assert.deepEqual(body.search_settings, { hybrid: false, semantic_weight: 0.2, semantic_weight_source: 'set' });
	assert.deepEqual([body.name, body.description], ['x', 'About kettles']);
	const refused = await app.call('PATCH', `${BASES}/${made.id}`, { search_settings: { semantic_weight: 2 } });
	assert.deepEqual([refused.status, refused.body.error.details[0].path], [400, '/search_settings/semantic_weight']);

	const automatic = { search_settings: { semantic_weight: null } };
	const returned = await app.call('PATCH', `${BASES}/${made.id}`, automatic);
	const expected = { hybrid: false, semantic_weight: 0.5, semantic_weight_source: 'auto' };
	assert.deepEqual([returned.status, returned.body.search_settings], [200, expected]);
	const created = await app.call('POST', BASES, { name: 'x', ...automatic });
	assert.deepEqual(created.body.search_settings, { ...expected, hybrid: true });
	const set = await app.call('PATCH', `${BASES}/${made.id}`, { search_settings: { semantic_weight: 0.5 } });
	assert.equal(set.body.search_settings.semantic_weight_source, 'set', 'also to the automatic weight');
	const unknown = await app.call('PATCH', `${BASES}/${made.id}`, {
		search_settings: { semantic_weight_sources: 'auto' },
	});
	assert.equal(unknown.status, 400);
});

test('accepts the search settings of a response with a change, and ignores their read-only field', async () => {
	const { body: made } = await app.call('POST', BASES, { name: 'x' });
	const change = async (search_settings: object) => {
		const { status, body } = await app.call('PATCH', `${BASES}/${made.id}`, { search_settings });
		assert.equal(status, 200, JSON.stringify(body));
		return body.search_settings;
	};
	const automatic = made.search_settings;
	assert.equal(automatic.semantic_weight_source, 'auto');
	const read = await change({ ...automatic, hybrid: false });
	assert.deepEqual(read, { ...automatic, hybrid: false }, 'the weight stays automatic');
	const set = await change({ ...read, semantic_weight: 0.2 });
	assert.deepEqual(set, { ...read, semantic_weight: 0.2, semantic_weight_source: 'set' });
	assert.deepEqual(await change({ semantic_weight_source: 'auto' }), set);
	assert.deepEqual(await change({ ...set, hybrid: true }), { ...set, hybrid: true });
	const copied = await app.call('POST', BASES, { name: 'y', search_settings: set });
	assert.deepEqual([copied.status, copied.body.search_settings], [201, set]);
});

test('finds the passage, and each hit has its source and score', async () => {
	const hits = await search(shop, { query: 'What does error code E3 mean?' });
	assert.ok(hits.length >= 1 && hits.length <= 5);
	for (const hit of hits) {
		assert.deepEqual(Object.keys(hit).sort(), [
			'chunk_id',
			'document_id',
			'heading_path',
			'keyword_score',
			'page',
			'score',
			'semantic_score',
			'text',
			'title',
			'url',
		]);
		for (const score of [hit.score, hit.semantic_score, hit.keyword_score]) assert.ok(score >= 0 && score <= 1, score);
	}
	const [best] = hits;
	assert.equal(best.title, 'Brook HB-170 kettle: user manual');
	assert.equal(best.page, 2);
	assert.match(best.text, /E3/);
	assert.ok(best.chunk_id.startsWith(`${best.document_id}.`));
	const scores = hits.map(({ score }: { score: number }) => score);
	assert.deepEqual(
		scores,
		[...scores].sort((a, b) => b - a),
		'best first',
	);
	const chunks = await app.call('GET', `${BASES}/${shop}/documents/${best.document_id}/chunks?limit=100`);
	const chunk = chunks.body.data.find(({ id }: { id: string }) => id === best.chunk_id);
	assert.equal(chunk.text, best.text);
});

test('top_k limits the hits, and min_score leaves out weak ones', async () => {
	const query = 'How long is the warranty on the heating element?';
	const all = await search(shop, { query, top_k: 50 });
	assert.ok(all.length > 2);
	assert.deepEqual(await search(shop, { query, top_k: 2 }), all.slice(0, 2));
	const bar = all[1].score;
	const strong = await search(shop, { query, top_k: 50, min_score: bar });
	assert.deepEqual(
		strong,
		all.filter(({ score }: { score: number }) => score >= bar),
	);
	assert.ok(strong.length < all.length);
	assert.deepEqual(await search(shop, { query: 'Who won the chess championship in 1997?', min_score: 0.9 }), []);
});

test('hybrid false searches by semantic similarity only, in the request and in the settings', async () => {
	const query = 'How do I descale the kettle?';
	const semantic = await search(shop, { query, hybrid: false, top_k: 10 });
	assert.ok(semantic.length > 0);
	assert.match(semantic[0].text, /descal/i);
	assert.deepEqual(await search(shop, { query, hybrid: false, semantic_weight: 0, top_k: 10 }), semantic);
	const words = await search(shop, { query, semantic_weight: 0, top_k: 10 });
	assert.notDeepEqual(words, semantic, 'keyword search alone gives another list');

	await app.call('PATCH', `${BASES}/${shop}`, { search_settings: { hybrid: false } });
	assert.deepEqual(await search(shop, { query, top_k: 10 }), semantic);
	await app.call('PATCH', `${BASES}/${shop}`, { search_settings: { hybrid: true } });
	const both = await search(shop, { query, top_k: 10 });
	assert.deepEqual(await search(shop, { query, top_k: 10, hybrid: true }), both);
});

test('accepts any text as a query, without an error or a crash', async () => {
	for (const query of [
		'"',
		'AND OR NOT',
		'a* OR (',
		"x'; DROP TABLE chunks;--",
		'title:kettle',
		'💥',
		' ',
		'\u0000',
		'der die das',
		'-',
		'NEAR(a b)',
	]) {
		assert.ok(Array.isArray(await search(shop, { query })), query);
	}
	const { status, body } = await app.call('POST', `${BASES}/${shop}/search`, { query: '' });
	assert.deepEqual([status, body.error.details[0].path], [400, '/query']);
	assert.ok((await search(shop, { query: 'kettle' })).length > 0, 'it still works');
	assert.ok(Array.isArray(await search(shop, { query: 'kettle '.repeat(4500) })), 'a very long one');
});

test('a search in an empty knowledge base finds nothing', async () => {
	const empty = await createResource(app, BASES, { name: 'Empty' });
	assert.deepEqual(await search(empty, { query: 'kettle' }), []);
});

test('deleting a knowledge base removes its files and its index, and detaches it everywhere', async () => {
	const { knowledgeBase, assistant } = await createApiFixture(app);
	for (const name of ['warranty-and-repair.md', 'privacy.txt'] as const) {
		await upload(app, knowledgeBase, name, { bytes: `# Only here\n\nOf ${name}, ${knowledgeBase}.` });
	}
	await untilSettled(app, knowledgeBase);
	const beside = await openStoreDirectly(app);
	await using _closed = beside;
	const { generation } = (await beside.get('knowledge_bases', knowledgeBase)) as { generation: string };
	assert.match(generation, /^gen_/);
	const documents = await beside.list('documents', {
		where: { knowledge_base_id: knowledgeBase },
		order: 'asc',
		limit: 10,
	});
	const blobs = documents.map(({ blob }) => blob as string);
	assert.equal(blobs.length, 2);

	const gone = await app.call('DELETE', `${BASES}/${knowledgeBase}`);
	assert.deepEqual([gone.status, gone.body], [200, { id: knowledgeBase, deleted: true }]);
	assert.equal((await app.call('GET', `${BASES}/${knowledgeBase}`)).status, 404);
	assert.equal((await app.call('DELETE', `${BASES}/${knowledgeBase}`)).status, 404);
	assert.deepEqual((await app.call('GET', `/api/v1/assistants/${assistant}`)).body.knowledge_base_ids, []);

	const files = await readdir(join(app.dataDir, 'blobs'), { recursive: true });
	for (const blob of blobs) assert.ok(!files.some((file) => file.endsWith(blob)), 'the file is gone');
	const db = openReadOnly(beside.searchDatabase);
	try {
		const tables = db
			.prepare("SELECT name FROM sqlite_master WHERE type IN ('table', 'index')")
			.pluck()
			.all() as string[];
		const serial = generation.slice('gen_'.length);
		assert.deepEqual(
			tables.filter((name) => name.includes(serial)),
			[],
			'no table of its index is left',
		);
		const left = db.prepare('SELECT COUNT(*) FROM indexed_documents WHERE generation = ?').pluck().get(generation);
		assert.equal(left, 0);
	} finally {
		db.close();
	}
	assert.ok((await search(shop, { query: 'kettle' })).length > 0, 'the others are untouched');
});

test('a search with messages finds what the last one refers to', async () => {
	// The end of a training changes scores.
	await untilTrained(app, shop);
	const asked = { role: 'user', content: 'What does error code E3 mean?' };
	const followUp = { role: 'user', content: 'How do I fix it?' };
	const [expected] = await search(shop, { query: asked.content });
	const reply = { role: 'assistant', content: expected.text };
	const [hit] = await search(shop, { messages: [asked, reply, followUp] });
	assert.equal(hit.document_id, expected.document_id);
	assert.deepEqual(await search(shop, { messages: [followUp] }), await search(shop, { query: followUp.content }));
	const other = { role: 'user', content: 'How many days of annual leave do employees get in their first year?' };
	assert.deepEqual(
		await search(shop, { messages: [asked, reply, other] }),
		await search(shop, { query: other.content }),
	);
});

test('a search takes either a query or messages that end with one of the user', async () => {
	const user = { role: 'user', content: 'kettle' };
	const refusal = async (body: object) => {
		const response = await app.call('POST', `${BASES}/${shop}/search`, body);
		return [response.status, response.body.error.code, response.body.error.details[0].path];
	};
	assert.deepEqual(await refusal({}), [400, 'invalid_request', '/query']);
	const { body } = await app.call('POST', `${BASES}/${shop}/search`, {});
	assert.equal(body.error.message, 'Send query or messages.');
	assert.deepEqual(await refusal({ query: 'kettle', messages: [user] }), [400, 'invalid_request', '/messages']);
	const last = { role: 'assistant', content: 'It is blue.' };
	assert.deepEqual(await refusal({ messages: [user, last] }), [400, 'invalid_request', '/messages/1/role']);
	assert.deepEqual(await refusal({ messages: [] }), [400, 'invalid_request', '/messages']);
});

test('accepts a search with messages of 160,000 characters, however they are encoded, and rejects longer ones with 400', async () => {
	const escaped = (characters: number) => {
		const contents = Array.from({ length: characters / 20_000 }, () => '\\u00e4'.repeat(20_000));
		return `{"messages":[${contents.map((content) => `{"role":"user","content":"${content}"}`)}]}`;
	};
	const post = (body: string) =>
		fetch(`${app.url}${BASES}/${shop}/search`, {
			method: 'POST',
			headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json' },
			body,
		});
	assert.equal((await post(escaped(160_000))).status, 200);
	const tooLong = await app.call('POST', `${BASES}/${shop}/search`, {
		messages: Array.from({ length: 30 }, () => ({ role: 'user', content: 'x'.repeat(32_000) })),
	});
	assert.deepEqual([tooLong.status, tooLong.body.error.details[0].path], [400, '/messages']);
});
