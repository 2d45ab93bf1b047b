import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvertedIndex } from '../../src/retrieval/in-memory/index.ts';
import { Random } from '../support/random.ts';

interface Chunk {
	id: number;
	title: string[];
	body: string[];
}

/** A collection as a list, searched by the formula. */
class Model {
	readonly chunks: Chunk[] = [];
	readonly totals = { chunks: 0, terms: 0 };

	frequencyOf(term: string): number {
		return this.chunks.filter((chunk) => countIn(chunk, term) > 0).length;
	}

	search(terms: readonly string[], limit: number): Array<{ id: number; score: number }> {
		const { chunks, terms: allTerms } = this.totals;
		const scored = this.chunks.map((chunk) => {
			const length = 2 * chunk.title.length + chunk.body.length;
			const scores = terms.map((term) => {
				const frequency = this.frequencyOf(term);
				const rarity = Math.log((chunks - frequency + 0.5) / (frequency + 0.5));
				const count = countIn(chunk, term);
				return (
					(Math.max(rarity, 0) || 1e-6) * ((count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length * chunks) / allTerms)))
				);
			});
			return { id: chunk.id, score: scores.reduce((sum, score) => sum + score, 0) };
		});
		return scored
			.filter(({ score }) => score > 0)
			.sort((a, b) => b.score - a.score || a.id - b.id)
			.slice(0, limit);
	}
}

function countIn({ title, body }: Chunk, term: string): number {
	const count = (terms: string[]) => terms.filter((other) => other === term).length;
	return 2 * count(title) + count(body);
}

test('finds and ranks as a list of the chunks does, while chunks are added and removed', () => {
	const random = new Random(3);
	const index = new InvertedIndex();
	const model = new Model();
	let lastId = 0;
	const terms = (count: number) =>
		Array.from({ length: count }, () =>
			random.chance(0.5) ? `t${random.between(0, 5)}` : `rare${random.between(0, 400)}`,
		);
	const add = () => {
		lastId += random.between(1, 5);
		const chunk = { id: lastId, title: terms(random.between(0, 3)), body: terms(random.between(0, 30)) };
		index.add(chunk.id, chunk.title.join(' '), chunk.body.join(' '));
		model.chunks.push(chunk);
		model.totals.chunks++;
		model.totals.terms += 2 * chunk.title.length + chunk.body.length;
	};
	const remove = () => {
		const first = random.between(0, lastId);
		const last = first + random.between(0, 60);
		const isGone = ({ id }: Chunk) => id >= first && id <= last;
		const ids = model.chunks.filter(isGone).map(({ id }) => id);
		assert.deepEqual(index.remove(first, last), ids);
		model.chunks.splice(0, model.chunks.length, ...model.chunks.filter((chunk) => !isGone(chunk)));
	};
	// More are removed than stay, so that the memory of removed chunks is given up several times.
	for (let step = 0; step < 1500; step++) {
		if (random.chance(0.92)) add();
		else remove();
		if (step % 25 > 0) continue;
		const query = terms(random.between(1, 4));
		const [found, expected] = [index.search(query, 20, model.totals), model.search(query, 20)];
		assert.deepEqual(
			found.map(({ id, score }) => [id, score.toFixed(9)]),
			expected.map(({ id, score }) => [id, score.toFixed(9)]),
		);
		for (const term of query) assert.equal(index.documentFrequency(term), model.frequencyOf(term));
		const chunk = model.chunks[random.between(0, model.chunks.length - 1)];
		if (chunk) for (const term of query) assert.equal(index.has(chunk.id, term), countIn(chunk, term) > 0);
	}
	assert.ok(model.chunks.length < 0.7 * model.totals.chunks);
	assert.equal(index.hasChunk(lastId + 1), false);
});

test('gives up the memory of removed chunks and of terms that no other chunk has', () => {
	const index = new InvertedIndex();
	const addAll = (from: number, to: number) => {
		for (let id = from; id < to; id++) index.add(id, '', `shared a${id} b${id} c${id}`);
	};
	addAll(1, 2001);
	const bytes = index.bytes;
	for (let round = 1; round <= 5; round++) {
		index.remove(2000 * (round - 1) + 1, 2000 * round);
		addAll(2000 * round + 1, 2000 * (round + 1) + 1);
	}
	assert.equal(index.documentFrequency('shared'), 2000);
	assert.ok(index.bytes < 2 * bytes, `${index.bytes} bytes after ${bytes}`);
});
