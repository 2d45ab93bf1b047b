import assert from 'node:assert/strict';
import test from 'node:test';
import { Random } from '../support/random.ts';
import { imageAt, type TracedCall } from './write-trace.ts';

const PAGE = 4096;

function write(page: number, byte: number, at: number): TracedCall {
	return { operation: 'write', file: 'database', offset: page * PAGE, bytes: Buffer.alloc(PAGE, byte), at };
}

const sync: TracedCall = { operation: 'sync', file: 'database', offset: 0, bytes: Buffer.alloc(0), at: 0 };

test('an image has each synced write, and no byte that was not written', () => {
	const trace = [write(0, 1, 1), write(1, 2, 2), sync, write(0, 3, 3), write(2, 4, 4)];
	const seen = new Set<string>();
	for (let seed = 0; seed < 200; seed++) {
		const { database, log } = imageAt(trace, trace.length, new Random(seed));
		assert.equal(log.length, 0);
		for (let at = 0; at < database.length; at += 512) {
			const sector = new Set(database.subarray(at, at + 512));
			assert.equal(sector.size, 1, 'a sector is written as a whole');
			const [byte = 0] = sector;
			const page = Math.floor(at / PAGE);
			assert.ok([[1, 3], [2], [0, 4]][page]?.includes(byte), `page ${page} has ${byte}`);
			seen.add(`${page} ${byte}`);
		}
		assert.ok(database.length >= 2 * PAGE);
	}
	assert.deepEqual([...seen].sort(), ['0 1', '0 3', '1 2', '2 0', '2 4'], 'pages are torn');
});

test('an image before a call does not have it, and a synced truncation removes what was behind it', () => {
	const cut: TracedCall = { ...sync, operation: 'truncate', offset: PAGE };
	const trace = [write(0, 1, 1), write(1, 2, 2), sync, cut, sync, write(2, 5, 5), sync];
	assert.deepEqual([...new Set(imageAt(trace, 3, new Random(1)).database)], [1, 2]);
	assert.equal(imageAt(trace, 5, new Random(1)).database.length, PAGE);
	const { database } = imageAt(trace, 7, new Random(1));
	assert.deepEqual([...new Set(database.subarray(PAGE, 2 * PAGE))], [0]);
});
