import assert from 'node:assert/strict';
import { test } from 'node:test';
import { because, DIMENSIONS, type IndexedStore, TestIndex } from './index-writes.ts';

/** What a search reads of a generation, after every change. */
export function searchReaderContract(opened: () => IndexedStore): void {
	test('a document that is added again replaces its earlier chunks everywhere', async () => {
		const index = new TestIndex(opened());
		await index.write(index.open(), index.openBasis(), index.serve());
		const vectors = new Int8Array(2 * DIMENSIONS).fill(5);
		await index.write(index.add('doc_a', ['old', 'older'], { basis: 'basis_1', vectors }));
		const [old] = await index.found('old');
		const replaced = { basis: 'basis_1', vectors: new Int8Array(DIMENSIONS).fill(7), language: 'de' };
		await index.write(index.add('doc_a', ['new'], replaced));
		assert.deepEqual(await index.found('old'), []);
		assert.equal((await index.found('new')).length, 1);
		await index.read(async (generation, at) => {
			assert.equal(generation.searchNearest(new Int8Array(DIMENSIONS).fill(1), 10).length, 1);
			assert.equal(generation.vector(old as number), undefined);
			assert.equal(generation.termsOf(old as number), undefined);
			assert.equal((await at.chunks([old as number])).size, 0);
			assert.equal((await generation.texts([old as number])).size, 0);
			assert.equal(generation.chunk_count, 1);
			assert.deepEqual(generation.languages, ['de']);
		});
	});

	test('a removed document leaves nothing behind under any basis', async () => {
		const index = new TestIndex(opened());
		await index.write(index.open(), index.openBasis('basis_1'), index.serve('basis_1'));
		await index.write(index.openBasis('basis_2'));
		await index.write(index.add('doc_a', ['gone'], { basis: 'basis_1', vectors: Int8Array.of(1, 2, 3, 4) }));
		await index.write(index.addVectors(await index.found('gone'), Int8Array.of(4, 3, 2, 1), 'basis_2'));
		const nearest = () => index.read((generation) => generation.searchNearest(Int8Array.of(1, 1, 1, 1), 10).length);
		assert.equal(await nearest(), 1);
		await index.write(index.remove('doc_a'));
		assert.deepEqual(await index.found('gone'), []);
		assert.equal(await nearest(), 0);
		await index.write(index.serve('basis_2'));
		assert.equal(await nearest(), 0);
		assert.equal(await index.read((generation) => generation.documentFrequency('gone')), 0);
		assert.deepEqual(await index.store.searchIndex.generation(index.id('gen_1')), {
			id: index.id('gen_1'),
			knowledge_base_id: index.id('kb_1'),
			embedder: 'builtin',
			basis: index.id('basis_2'),
			dimensions: DIMENSIONS,
			trained_on: 2,
			chunk_count: 0,
		});
		await index.write(index.remove('doc_a'), index.remove('doc_a', 'gen_none'));
	});

	test('skips vectors of chunks that were removed meanwhile', async () => {
		const index = new TestIndex(opened());
		await index.write(index.open(), index.openBasis(), index.serve(), index.add('doc_a', ['first']));
		const [old] = await index.found('first');
		await index.write(index.add('doc_a', ['second']));
		const [current] = await index.found('second');
		assert.notEqual(current, old, 'an id is never given twice');
		const ids = [old as number, current as number];
		const vectors = Int8Array.of(1, 1, 1, 1, 0, 0, 0, 9);
		// Also twice, as after a crash in the middle of a training.
		for (let round = 0; round < 2; round++) {
			await index.write(index.addVectors(ids, vectors));
			const nearest = await index.read((generation) => generation.searchNearest(Int8Array.of(0, 0, 0, 1), 10));
			assert.deepEqual(
				nearest.map(({ id, score }) => [id, Math.round(score * 1000)]),
				[[current, 1000]],
			);
		}
	});

	test('the nearest vectors come first, with their cosines', async () => {
		const index = new TestIndex(opened());
		const vectors = Int8Array.of(100, 0, 0, 0, 100, 100, 0, 0, -100, 0, 0, 0);
		const document = index.add('doc_a', ['x', 'y', 'z'], { basis: 'basis_1', vectors });
		await index.write(index.open(), index.openBasis(), index.serve(), document);
		await index.read((generation) => {
			const ranked = generation.searchNearest(Int8Array.of(127, 0, 0, 0), 2);
			assert.deepEqual(
				ranked.map(({ score }) => score.toFixed(3)),
				['1.000', '0.707'],
			);
			assert.deepEqual([...(generation.vector(ranked[1]?.id as number) ?? [])], [100, 100, 0, 0]);
		});
	});

	test('a copied document is found like the original, with its vectors', async () => {
		const index = new TestIndex(opened());
		const vectors = Int8Array.of(1, 2, 3, 4, 4, 3, 2, 1);
		const original = index.add('doc_a', ['one', 'two'], { basis: 'basis_1', vectors, language: null });
		await index.write(index.open(), index.openBasis(), index.serve(), original);
		assert.equal((await index.found('two')).length, 1);
		await index.write(index.copy('doc_a', 'doc_b'));
		const [first, copy] = await index.found('two');
		await index.read(async (generation, at) => {
			assert.deepEqual([...(generation.vector(copy as number) ?? [])], [4, 3, 2, 1]);
			assert.deepEqual(generation.languages, [null]);
			const chunks = await at.chunks([first as number, copy as number]);
			assert.deepEqual(
				[first, copy].map((id) => {
					const { document_id, title, position } = chunks.get(id as number) ?? {};
					return [index.name(document_id ?? ''), title, position];
				}),
				[
					['doc_a', 'Title of doc_a', 1],
					['doc_b', 'Title of doc_b', 1],
				],
			);
		});
		await index.write(index.remove('doc_a'));
		assert.deepEqual(await index.found('two'), [copy]);
	});

	test('a new basis takes over in one commit, which drops the old one with its vectors', async () => {
		const index = new TestIndex(opened());
		const vectors = Int8Array.of(1, 0, 0, 0);
		await index.write(index.open(), index.openBasis('basis_1'), index.serve('basis_1'));
		await index.write(index.add('doc_a', ['x'], { basis: 'basis_1', vectors }), index.openBasis('basis_2'));
		const [id] = await index.found('x');
		await index.write(index.addVectors([id as number], Int8Array.of(0, 1, 0, 0), 'basis_2'));
		const seen = () =>
			index.read((generation) => [generation.basis, generation.trained_on, ...(generation.vector(id as number) ?? [])]);
		assert.deepEqual(await seen(), [index.id('basis_1'), 2, 1, 0, 0, 0]);
		await index.write(index.serve('basis_2'));
		assert.deepEqual(await seen(), [index.id('basis_2'), 2, 0, 1, 0, 0]);
		await index.reader.snapshot(async (at) => {
			assert.equal(await at.model(index.id('basis_1')), undefined);
			assert.deepEqual([...((await at.model(index.id('basis_2'))) ?? [])], [1, 2, 3]);
		});
	});

	test('a dropped generation is gone, and other generations are unchanged', async () => {
		const index = new TestIndex(opened());
		await index.write(index.open('gen_2'), index.add('doc_a', ['kept'], { generation: 'gen_2' }));
		await index.write(index.open(), index.openBasis(), index.serve());
		await index.write(index.add('doc_a', ['x'], { basis: 'basis_1', vectors: Int8Array.of(1, 0, 0, 0) }));
		assert.equal((await index.found('x')).length, 1);
		const drop = { op: 'index.drop_generation', generation: index.id('gen_1') } as const;
		await index.write(drop);
		assert.equal(await index.store.searchIndex.generation(index.id('gen_1')), undefined);
		await assert.rejects(index.found('x'), because('no generation'));
		assert.deepEqual(await index.chunkIds(), []);
		assert.equal(await index.store.searchIndex.documentCount(index.id('gen_1')), 0);
		assert.equal((await index.found('kept', 'gen_2')).length, 1);
		await index.write(drop);
		// The same id again has nothing of before.
		await index.write(index.open());
		assert.deepEqual(await index.read(({ languages, chunk_count }) => [languages, chunk_count]), [[], 0]);
	});

	test('treats terms of every script and the operators of full text as plain words', async () => {
		const index = new TestIndex(opened());
		const words = ['हिन्दी', 'كتاب', 'ลูกค้า', '日本語', 'and', 'or', 'not', 'near', 'zuruckgeb', 'ﬀ', 'constructor'];
		await index.write(index.open(), index.add('doc_a', [words.join(' ')]), index.add('doc_b', ['nothing']));
		for (const word of words) assert.equal((await index.found(word)).length, 1, word);
		assert.deepEqual(await index.found('हिन'), []);
		await index.read((generation) => {
			assert.equal(generation.documentFrequency('head'), 2);
			assert.equal(generation.documentFrequency('toString'), 0);
			assert.deepEqual(generation.searchKeywords([], 10), []);
		});
	});

	test('a term of the title counts twice, and a repeated one in the query again', async () => {
		const index = new TestIndex(opened());
		const fillers = Array.from({ length: 8 }, (_, i) => index.add(`doc_${i}`, [`filler word${i} text`]));
		await index.write(index.open(), ...fillers);
		const titled = index.add('doc_t', ['one two']);
		titled.chunks = titled.chunks.map((chunk) => ({ ...chunk, title_terms: 'special' }));
		await index.write(titled, index.add('doc_u', ['special one two']));
		await index.read(async (generation, at) => {
			const ranked = generation.searchKeywords(['special'], 10);
			const chunks = await at.chunks(ranked.map(({ id }) => id));
			assert.deepEqual(
				ranked.map(({ id }) => index.name(chunks.get(id)?.document_id ?? '')),
				['doc_t', 'doc_u'],
			);
			const twice = generation.searchKeywords(['special', 'special'], 10);
			assert.ok((twice[0]?.score as number) > 1.9 * (ranked[0]?.score as number));
			const terms = generation.termsOf(ranked[0]?.id as number);
			assert.deepEqual(
				['special', 'two', 'filler', 'unknown'].map((term) => terms?.has(term)),
				[true, true, false, false],
			);
		});
	});

	test('a search sees one snapshot of the index, and the next search what was committed meanwhile', async () => {
		const index = new TestIndex(opened());
		await index.write(index.open(), index.add('doc_a', ['x']), index.add('doc_b', ['y']));
		await index.read(async (generation, at) => {
			const [id] = generation.searchKeywords(['x'], 10).map((found) => found.id);
			await index.write(index.remove('doc_a'), index.add('doc_c', ['x']));
			const again = await at.generation(index.id('gen_1'));
			assert.deepEqual(
				again?.searchKeywords(['x'], 10).map((found) => found.id),
				[id],
			);
			assert.equal((await at.chunks([id as number])).size, 1);
			await index.write({ op: 'index.drop_generation', generation: index.id('gen_1') });
			assert.equal((await at.generation(index.id('gen_1')))?.chunk_count, 2);
			assert.equal((await at.chunks([id as number])).size, 1);
		});
		await assert.rejects(index.found('x'), because('no generation'));
	});

	test('finds the texts around a chunk in the same section', async () => {
		const index = new TestIndex(opened());
		const document = index.add('doc_a', ['one', 'two', 'three', 'four']);
		document.chunks = document.chunks.map((chunk, at) => (at < 3 ? chunk : { ...chunk, heading_path: ['Other'] }));
		await index.write(index.open(), document);
		const [one, two, three, four] = (await index.chunkIds()) as [number, number, number, number];
		const around = await index.reader.snapshot((at) => at.neighbours([one, two, three, four]));
		assert.deepEqual(
			[one, two, three, four].map((id) => around.get(id)),
			[{ next: 'text of two' }, { previous: 'text of one', next: 'text of three' }, { previous: 'text of two' }, {}],
		);
	});

	test('a generation names its embedder and the floor of its basis, and accepts vectors of its own bases only', async () => {
		const index = new TestIndex(opened());
		const embedder = 'openai/text-embedding-3-small';
		await index.write(index.open('gen_2'), index.open('gen_1', 'kb_1', embedder));
		const floor = (name = 'gen_1') => index.read((generation) => generation.floor, name);
		assert.equal(await floor(), 0, 'without a basis');
		await index.write({ ...index.openBasis(), floor: 0.25 }, index.openBasis('basis_2', 'gen_2'), index.serve());
		await index.read((generation) => {
			assert.deepEqual([generation.embedder, generation.dimensions], [embedder, DIMENSIONS]);
			assert.deepEqual(generation.searchNearest(Int8Array.of(1, 1, 1, 1), 10), []);
		});
		assert.equal(await floor(), 0.25);
		const foreign = index.add('doc_a', ['x'], { basis: 'basis_2', vectors: Int8Array.of(1, 2, 3, 4) });
		await assert.rejects(index.write(foreign), because('has no basis'));
		assert.deepEqual(await index.found('x'), [], 'nothing of it is written');
	});
}
