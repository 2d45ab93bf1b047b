import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeOfTopicFigure, MAX_COST } from '../../bench/retrieval/change-of-topic.ts';
import { readCollection } from '../../bench/retrieval/collections.ts';
import { IndexedCollection, type Mode } from '../../bench/retrieval/indexed-collection.ts';
import { areaUnderCurve, evaluate, mean } from '../../bench/retrieval/measures.ts';

/**
 * The least nDCG@10 of any change: a hundredth below the present value. First full text, which does not depend on training;
 * then the default settings: both halves, with the weight that the collection chooses itself.
 */
const FLOORS: Record<string, Partial<Record<Mode, number>>> = {
	covidfaq: { keyword: 0.597, hybrid: 0.647 },
	cranfield: { keyword: 0.511, hybrid: 0.576 },
};
/** `npm run test:long` indexes and trains both collections. Otherwise the questions of the second one are only the foreign questions. */
const IS_FULL = process.env.COLLECTIONS === 'full';
const FLOOR_OF_ANSWERABILITY = IS_FULL ? 0.968 : 0.985;

const covidfaq = readCollection('covidfaq');
const cranfield = readCollection('cranfield');
const skip = covidfaq && cranfield ? false : 'the shared retrieval collections are not here';

test('search keeps its nDCG@10 and separates questions of another field', { skip }, async (t) => {
	if (!covidfaq || !cranfield) return;
	const own: number[] = [];
	const foreign: number[] = [];
	const pairs = [[covidfaq, cranfield] as const, ...(IS_FULL ? [[cranfield, covidfaq] as const] : [])];
	for (const [collection, other] of pairs) {
		await using indexed = await IndexedCollection.index(collection);
		for (const [mode, floor] of Object.entries(FLOORS[collection.name] ?? {}) as Array<[Mode, number]>) {
			const gains: number[] = [];
			for (const { text, relevant } of collection.questions) {
				const { hits, confidence } = await indexed.search(text, mode);
				const ranking = hits.map((hit) => hit.document_id);
				gains.push(evaluate(ranking, relevant).ndcg);
				if (mode === 'hybrid') own.push(confidence);
			}
			await t.test(`${collection.name}, ${mode}: at least ${floor}`, () => {
				t.diagnostic(`${collection.name}, ${mode}: nDCG@10 ${mean(gains).toFixed(4)}`);
				assert.ok(mean(gains) >= floor, `nDCG@10 is ${mean(gains).toFixed(4)}`);
			});
		}
		if (collection === covidfaq) {
			const { value, remark } = await changeOfTopicFigure(indexed, collection);
			await t.test(`a change of topic costs at most ${MAX_COST}`, () => {
				assert.ok(value.median <= MAX_COST, `it costs ${value.median.toFixed(4)} (${remark})`);
			});
		}
		for (const { text } of other.questions.slice(0, 225))
			foreign.push((await indexed.search(text, 'hybrid')).confidence);
	}
	const area = areaUnderCurve(own, foreign);
	t.diagnostic(`answerability ${area.toFixed(4)}`);
	assert.ok(area >= FLOOR_OF_ANSWERABILITY, `answerability is ${area.toFixed(3)}`);
});
