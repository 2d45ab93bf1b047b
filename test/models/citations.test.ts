import assert from 'node:assert/strict';
import { test } from 'node:test';
import { citedIndexes } from '../../src/models/index.ts';
import { cpuMilliseconds } from '../support/cpu-time.ts';

const passages = [1, 2, 3, 12].map((index) => ({ index }));

test('lists each source once, in the order in which the answer cites them', () => {
	assert.deepEqual(citedIndexes('Second [2]. First [1], second again [2][12].', passages), [2, 1, 12]);
	assert.deepEqual(citedIndexes('Both [1, 3] say so, and [ 2 ].', passages), [1, 3, 2]);
});

test('ignores a number without a source', () => {
	assert.deepEqual(citedIndexes('See [7], [0], [123456] and [3].', passages), [3]);
	assert.deepEqual(citedIndexes('See [1].', []), []);
});

test('ignores numbers in code', () => {
	assert.deepEqual(citedIndexes('Use `list[1]` or ``a ` b[2]``, see [3].', passages), [3]);
	assert.deepEqual(citedIndexes('Run:\n\n```js\nlist[1]\n``\nlist[2]\n```\n\nDone [3].', passages), [3]);
	assert.deepEqual(citedIndexes('- item\n  ~~~\n  a[1]\n  ```\n  a[2]\n  ~~~\n- next [3]', passages), [3]);
	assert.deepEqual(citedIndexes('```\nnever closed [1]', passages), []);
});

test('finds citations after a single backtick', () => {
	assert.deepEqual(citedIndexes("It's a ` mark [1].\n\nAnd another ` there [2].", passages), [1, 2]);
	assert.deepEqual(citedIndexes('Escaped \\`[1]` and `` open [2]', passages), [1, 2]);
});

test('ignores escaped brackets, links and definitions', () => {
	assert.deepEqual(citedIndexes('Quoted \\[1\\], link [2](https://example.com), real [3].', passages), [3]);
	assert.deepEqual(citedIndexes('[1]: https://example.com\n\nA backslash \\\\[2].', passages), [2]);
});

test('reads hostile answers in linear time', async () => {
	const spent = await cpuMilliseconds(() => {
		for (const part of ['\\', '`', '[1', '[1 ,', '` `` ', '> ', '~~~\n', '1. ', '[[[[', '`\\`']) {
			citedIndexes(part.repeat(50_000), passages);
		}
		const runs = Array.from({ length: 1_000 }, (_, i) => '`'.repeat(i + 1)).join(' ');
		citedIndexes(runs, passages);
	});
	assert.ok(spent < 3_000, `${spent} ms`);
});
