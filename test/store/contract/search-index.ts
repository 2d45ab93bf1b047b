import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IndexWrite } from '../../../src/store/index.ts';
import { document, knowledgeBase } from '../samples.ts';
import { because, DIMENSIONS, type IndexedStore, TestIndex } from './index-writes.ts';

/** How documents, bases and generations of the search index change, and what the main thread reads of them. */
export function searchIndexContract(opened: () => IndexedStore): void {
	test('lists the chunks of a document in reading order, page by page, from the serving generation', async () => {
		const index = new TestIndex(opened());
		const { store } = index;
		await index.write(
			index.open(),
			index.add('doc_a', ['one', 'two', 'three']),
			index.add('doc_b', ['other']),
			index.open('gen_2'),
			index.add('doc_a', ['new'], { generation: 'gen_2' }),
		);
		const id = index.id('kb_1');
		const chunks = (after: number, limit: number) =>
			store.searchIndex.servingChunks(id, index.id('doc_a'), after, limit);
		assert.deepEqual(await chunks(-1, 10), [], 'there is no such knowledge base');
		await store.commit({ write: [{ op: 'insert', kind: 'knowledge_bases', record: knowledgeBase({ id }) }] });
		assert.deepEqual(await chunks(-1, 10), [], 'nothing serves it yet');

		const serve = (generation: string) =>
			store.commit({ write: [{ op: 'patch', kind: 'knowledge_bases', id, set: { generation } }] });
		await serve(index.id('gen_1'));
		const [first, second] = await chunks(-1, 2);
		assert.equal(first?.text, 'text of one');
		assert.deepEqual(first?.heading_path, ['One', 'Two']);
		assert.equal(first?.page, 3);
		assert.equal(second?.position, 1);
		assert.deepEqual(
			(await chunks(1, 10)).map(({ position }) => position),
			[2],
		);
		assert.equal((await store.searchIndex.servingGeneration(id))?.chunk_count, 4);
		await serve(index.id('gen_2'));
		assert.deepEqual(
			(await chunks(-1, 10)).map(({ text }) => text),
			['text of new'],
		);
	});

	test('drops the bases of a generation that do not serve, and no other', async () => {
		const index = new TestIndex(opened());
		await index.write(index.open(), index.openBasis('basis_1'), index.serve('basis_1'));
		await index.write(index.openBasis('basis_2'), index.openBasis('basis_3'));
		await index.write(index.open('gen_2'), index.openBasis('basis_4', 'gen_2'));
		const bases = () =>
			index.reader.snapshot(async (at) => {
				const found: string[] = [];
				for (const name of ['basis_1', 'basis_2', 'basis_3', 'basis_4']) {
					if ((await at.model(index.id(name))) !== undefined) found.push(name);
				}
				return found;
			});
		const drop = (generation: string): IndexWrite => ({ op: 'index.drop_unserved_bases', generation });
		assert.equal((await bases()).length, 4);
		await index.write(drop(index.id('gen_1')));
		assert.deepEqual(await bases(), ['basis_1', 'basis_4']);
		for (const generation of ['gen_2', 'gen_gone']) await index.write(drop(index.id(generation)));
		assert.deepEqual(await bases(), ['basis_1']);
	});

	test('a change that fails halfway is rolled back', async () => {
		const index = new TestIndex(opened());
		await index.write(index.open(), index.openBasis());
		const wrong = index.add('doc_a', ['x'], { basis: 'basis_1', vectors: new Int8Array(3) });
		await assert.rejects(index.write(index.open('gen_2'), wrong), because('3 values came'));
		assert.equal(await index.store.searchIndex.generation(index.id('gen_2')), undefined);
		await index.write(index.open('gen_2'), index.add('doc_a', ['x'], { generation: 'gen_2' }));
		assert.equal((await index.found('x', 'gen_2')).length, 1);
	});

	test('refuses changes of what does not exist', async () => {
		const index = new TestIndex(opened());
		await index.write(index.open());
		const refused = (write: IndexWrite, text: string) => assert.rejects(index.write(write), because(text));
		await refused(index.add('doc_a', ['x'], { generation: 'gen_none' }), 'gen_none');
		await refused(index.add('doc_a', ['x'], { basis: 'basis_none', vectors: new Int8Array(4) }), 'basis_none');
		await refused(index.addVectors([1], new Int8Array(4), 'basis_none'), 'basis_none');
		await refused(index.serve('basis_none'), 'basis_none');
		await refused(index.openBasis('basis_1', 'gen_none'), 'gen_none');
		await refused(index.copy('doc_none', 'doc_b'), 'doc_none');
		await refused({ ...index.openBasis(), dimensions: 0 }, 'dimensions');
	});

	test('coverage lists the documents of a generation that is being built, with their versions', async () => {
		const index = new TestIndex(opened());
		await recordDocuments(index, ['doc_a', 'doc_b', 'doc_c', 'doc_d']);
		await index.write(index.open(), index.open('gen_2'), index.add('doc_d', ['other'], { generation: 'gen_2' }));
		const built_from = { version: 1, page_count: null, missing_text: null };
		await index.write(
			index.add('doc_a', ['x'], { built_from }),
			index.add('doc_b', [], { built_from }),
			index.copy('doc_d', 'doc_d', { from_generation: 'gen_2' }),
		);
		const { searchIndex } = index.store;
		const coverage = async (after?: { at: number; id: string }, limit = 10) =>
			(await searchIndex.coverage(index.id('kb_1'), index.id('gen_1'), after, limit)).map((covered) => [
				index.name(covered.document.id),
				covered.built_from,
			]);
		const all = [
			['doc_a', 1],
			['doc_b', 1],
			['doc_c', null],
			['doc_d', 0],
		];
		assert.deepEqual(await coverage(), all);
		assert.deepEqual(await coverage({ at: 1, id: index.id('doc_a') }, 2), all.slice(1, 3));
		assert.deepEqual(await index.read(({ languages }) => languages), ['en'], 'a document without text has none');
		assert.equal((await searchIndex.generation(index.id('gen_1')))?.chunk_count, 2);
		assert.equal(await searchIndex.documentCount(index.id('gen_1')), 3);
		assert.equal((await index.found('other')).length, 1);
	});

	test('describes documents by the new generation, except those that have changed since', async () => {
		const index = new TestIndex(opened());
		await recordDocuments(index, ['doc_a', 'doc_b', 'doc_c']);
		await recordDocuments(index, ['doc_d'], 'processing');
		const patchB = { op: 'patch', kind: 'documents', id: index.id('doc_b'), set: { attempts: 1 } } as const;
		await index.store.commit({ write: [patchB] });
		const built_from = { version: 1, page_count: 3, missing_text: 'Page 2 is “missing”.' };
		const built = ['doc_a', 'doc_b', 'doc_d'].map((name) => index.add(name, ['x', 'y'], { built_from }));
		await index.write(index.open(), ...built);
		const describe = (indexed_at: number): IndexWrite => {
			const document_ids = ['doc_a', 'doc_b', 'doc_c', 'doc_d', 'doc_none'].map((name) => index.id(name));
			return { op: 'index.describe_documents', generation: index.id('gen_1'), document_ids, indexed_at };
		};
		const described = async () => {
			const rows = await index.store.searchIndex.coverage(index.id('kb_1'), index.id('gen_1'), undefined, 10);
			return rows.map(
				({ document: { id, version, chunk_count, page_count, language, error, indexed_at }, built_from }) => [
					...[index.name(id), version, built_from, chunk_count, page_count, language, error?.message, indexed_at],
				],
			);
		};
		await index.write(describe(77));
		const others = [
			['doc_b', 2, 1, 9, null, null, undefined, null],
			['doc_c', 1, null, 9, null, null, undefined, null],
			['doc_d', 1, 1, 9, null, null, undefined, null],
		];
		assert.deepEqual(await described(), [['doc_a', 2, 2, 2, 3, 'en', 'Page 2 is “missing”.', 77], ...others]);
		// Again, as after a crash before the swap.
		await index.write(describe(78));
		assert.deepEqual(await described(), [['doc_a', 3, 3, 2, 3, 'en', 'Page 2 is “missing”.', 78], ...others]);
	});

	test('finds the terms of later chunks of one generation in order', async () => {
		const index = new TestIndex(opened());
		const { searchIndex } = index.store;
		const generation = index.id('gen_1');
		const other = index.add('doc_b', ['other'], { generation: 'gen_2' });
		await index.write(index.open(), index.open('gen_2'), index.add('doc_a', ['one', 'two']), other);
		const [, second] = await index.chunkIds();
		await index.write(index.add('doc_c', ['three', 'four']));
		const bodies = async (limit: number) =>
			(await searchIndex.termsAfter(generation, second ?? 0, limit)).map(({ body_terms }) => body_terms);
		assert.deepEqual(await bodies(10), ['three', 'four']);
		assert.deepEqual(await bodies(1), ['three']);
		const all = await index.reader.snapshot((at) => at.allTerms(generation));
		assert.deepEqual(await searchIndex.termsAfter(generation, 0, 10), all);
		assert.deepEqual(
			(await index.reader.snapshot((at) => at.allTerms(generation, index.id('doc_c')))).map((row) => row.body_terms),
			['one', 'two'],
		);
	});

	test('finds the texts of later chunks of one generation in order, with title and headings', async () => {
		const index = new TestIndex(opened());
		const other = index.add('doc_b', ['other'], { generation: 'gen_2' });
		await index.write(index.open(), index.open('gen_2'), index.add('doc_a', ['one', 'two']), other);
		const textsAfter = (id: number) => index.store.searchIndex.textsAfter(index.id('gen_1'), id, 10);
		const all = await textsAfter(0);
		const about = { title: 'Title of doc_a', heading_path: ['One', 'Two'] };
		assert.deepEqual(
			all.map(({ id, ...rest }) => rest),
			[
				{ ...about, text: 'text of one' },
				{ ...about, text: 'text of two' },
			],
		);
		assert.deepEqual(await textsAfter(all[0]?.id ?? 0), all.slice(1));
	});

	test('returns the texts of a document with their vectors, and none under a basis of another generation', async () => {
		const index = new TestIndex(opened());
		await index.write(index.open(), index.openBasis(), index.open('gen_2'), index.openBasis('basis_2', 'gen_2'));
		await index.write(index.add('doc_a', ['one', 'two', 'three']));
		const [, second] = await index.chunkIds();
		await index.write(index.addVectors([second as number], Int8Array.of(1, -2, 3, -128)));
		const embedded = async (basis: string, after: number) =>
			(
				await index.store.searchIndex.embeddedTexts(index.id('gen_1'), index.id(basis), index.id('doc_a'), after, 2)
			).map(({ position, text, vector }) => [position, text, [...vector]]);
		assert.deepEqual(await embedded('basis_1', -1), [
			[0, 'text of one', []],
			[1, 'text of two', [1, -2, 3, -128]],
		]);
		assert.deepEqual(await embedded('basis_1', 1), [[2, 'text of three', []]]);
		for (const basis of ['basis_2', 'basis_none']) assert.deepEqual(await embedded(basis, -1), []);
	});

	test('a basis records its progress, also past removed chunks', async () => {
		const index = new TestIndex(opened());
		const openedBasis = () => index.store.searchIndex.openedBasis(index.id('gen_1'));
		await index.write(index.open(), index.add('doc_a', ['one', 'two']), index.add('doc_b', ['three']));
		assert.equal(await openedBasis(), undefined);
		await index.write(index.openBasis());
		assert.deepEqual(await openedBasis(), { id: index.id('basis_1'), dimensions: DIMENSIONS, embedded_to: 0 });
		const [one, two, three] = (await index.chunkIds()) as [number, number, number];
		const add = (...ids: number[]) => index.addVectors(ids, new Int8Array(ids.length * DIMENSIONS).fill(1));
		await index.write(add(one, two));
		assert.equal((await openedBasis())?.embedded_to, two);
		await index.write(index.remove('doc_b'), add(three));
		assert.equal((await openedBasis())?.embedded_to, three);
		await index.write(add(one));
		assert.equal((await openedBasis())?.embedded_to, three);
		await index.write(index.openBasis('basis_0'));
		assert.equal((await openedBasis())?.id, index.id('basis_0'), 'the basis that was opened last');
	});

	test('a basis returns the sample that it was opened with, if any', async () => {
		const index = new TestIndex(opened());
		const sample = Int8Array.of(127, -127, 0, 5);
		await index.write(index.open(), index.openBasis(), { ...index.openBasis('basis_2'), sample });
		const sampleOf = (name: string) => index.store.searchIndex.sampleOf(index.id(name));
		assert.deepEqual(
			[await sampleOf('basis_1'), await sampleOf('basis_2'), await sampleOf('none')],
			[undefined, sample, undefined],
		);
	});
}

/** Records of documents as the index knows documents: by their ids and versions, and what they tell of the index. */
async function recordDocuments(
	index: TestIndex,
	names: string[],
	status: 'indexed' | 'processing' = 'indexed',
): Promise<void> {
	const at = { created_at: 1, updated_at: 1, indexed_at: null };
	const records = names.map((name) =>
		document({
			...{ id: index.id(name), knowledge_base_id: index.id('kb_1'), status, chunk_count: 9, error: null, ...at },
		}),
	);
	await index.store.commit({ write: records.map((record) => ({ op: 'insert', kind: 'documents', record })) });
}
