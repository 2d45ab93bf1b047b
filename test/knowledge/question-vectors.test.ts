import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/base/index.ts';
import { type ModelIdentity, QuestionVectors } from '../../src/knowledge/embedding/index.ts';
import type { Embedder } from '../../src/models/index.ts';
import type { Generation } from '../../src/store/index.ts';

const SERVING: Generation = {
	id: 'gen_1',
	knowledge_base_id: 'kb_1',
	embedder: 'stand-in/first',
	basis: 'basis_1',
	dimensions: 2,
	trained_on: 0,
	chunk_count: 1,
};

test('after a change of the model neither a question nor its context keeps a vector of the other model', async () => {
	const embedded: string[] = [];
	const embedder: Partial<Embedder> = {
		id: SERVING.embedder,
		async embedQuestion(text) {
			embedded.push(text);
			return Float32Array.of(1, 0);
		},
	};
	let isSame = true;
	const vectors = new QuestionVectors({
		embedders: { configured: SERVING.embedder, resolve: () => embedder as Embedder },
		models: { verifyServing: async () => isSame } as unknown as ModelIdentity,
		log: createLog('silent'),
	});
	const texts = ['And hot?', 'Is there tea?\nAnd hot?'];
	const search = async () => {
		for (const text of texts) await vectors.vectorOf(SERVING.embedder, text);
		return vectors.isComparable(Float32Array.of(1, 0), texts, SERVING);
	};
	assert.equal(await search(), true);
	assert.equal(await search(), true);
	assert.deepEqual(embedded, texts, 'cached');
	isSame = false;
	assert.equal(await search(), false);
	isSame = true;
	assert.equal(await search(), true);
	assert.deepEqual(embedded, [...texts, ...texts]);
});
