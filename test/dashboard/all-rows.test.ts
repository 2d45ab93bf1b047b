import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allRows, MAX_ROWS } from '../../src/dashboard/api/all-rows.ts';

/** A list of the API with so many rows. */
function listOf(total: number) {
	const queries: { limit: number; cursor?: string }[] = [];
	const load = async (query: { limit: number; cursor?: string }) => {
		queries.push(query);
		const from = Number(query.cursor ?? 0);
		const to = Math.min(total, from + query.limit);
		return {
			data: Array.from({ length: to - from }, (_, at) => from + at),
			next_cursor: to < total ? String(to) : null,
		};
	};
	return { load, queries };
}

test('reads all pages of a list in its order', async () => {
	for (const total of [0, 1, 100, 101, 250, MAX_ROWS]) {
		const { load } = listOf(total);
		const { rows, isComplete } = await allRows(load);
		assert.deepEqual(rows, [...Array(total).keys()]);
		assert.equal(isComplete, true, `${total}`);
	}
});

test('stops at its bound and says that there is more', async () => {
	const { load, queries } = listOf(MAX_ROWS + 1);
	const { rows, isComplete } = await allRows(load);
	assert.deepEqual([rows.length, isComplete], [MAX_ROWS, false]);
	assert.equal(queries.length, MAX_ROWS / 100);
});

test('a page that cannot be read is an error, not a shorter list', async () => {
	const load = async ({ cursor }: { cursor?: string }) => {
		if (cursor) throw new TypeError('no connection');
		return { data: [1], next_cursor: '1' };
	};
	await assert.rejects(allRows(load), TypeError);
});
