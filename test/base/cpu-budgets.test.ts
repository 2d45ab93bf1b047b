import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CpuBudgets } from '../../src/base/index.ts';

test('charges processor time to the running tasks in equal parts', () => {
	let cpuMs = 500;
	const budgets = new CpuBudgets<string>(100, () => cpuMs);
	budgets.begin('first');
	cpuMs += 60;
	assert.deepEqual(budgets.overdrawn(), [], 'what the process took before is not billed');
	budgets.begin('second');
	cpuMs += 90;
	assert.deepEqual(budgets.overdrawn(), ['first']);
	budgets.end('first');
	cpuMs += 50;
	assert.deepEqual(budgets.overdrawn(), []);
	cpuMs += 10;
	assert.deepEqual(budgets.overdrawn(), ['second']);
	budgets.end('second');
	cpuMs += 1000;
	assert.deepEqual(budgets.overdrawn(), []);
});

test('a task that starts again has its full budget', () => {
	let cpuMs = 0;
	const budgets = new CpuBudgets<string>(100, () => cpuMs);
	budgets.begin('task');
	cpuMs = 101;
	assert.deepEqual(budgets.overdrawn(), ['task']);
	budgets.end('task');
	budgets.begin('task');
	cpuMs = 201;
	assert.deepEqual(budgets.overdrawn(), []);
});
