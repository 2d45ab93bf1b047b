import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdleCollector } from '../../src/idle-collection.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;

test('collects garbage once when the process has been idle after it grew', async () => {
	let utilization = 0;
	let memory = 100 * MIB;
	let collections = 0;
	using collector = new IdleCollector({
		utilization: () => utilization,
		residentMemory: () => memory,
		collect: async () => {
			collections++;
			memory -= 50 * MIB;
		},
	});
	const check = async (times: number) => {
		for (let time = 0; time < times; time++) await collector.check();
		return collections;
	};
	assert.equal(await check(5), 0, 'it has not grown');
	memory += 150 * MIB;
	utilization = 0.5;
	assert.equal(await check(5), 0, 'it is busy');
	utilization = 0;
	assert.equal(await check(3), 0, 'it has only just become idle');
	assert.equal(await check(5), 1, 'what remains is in use');
	memory += 30 * MIB;
	assert.equal(await check(4), 2, 'it has grown again');
});

test('the real collection frees what nothing refers to', async () => {
	using collector = new IdleCollector();
	const garbage = new WeakRef({});
	await until('the object is gone', async () => {
		await collector.collect();
		return garbage.deref() === undefined;
	});
});
