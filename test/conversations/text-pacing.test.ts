import assert from 'node:assert/strict';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { test } from 'node:test';
import { TextPacing } from '../../src/conversations/text-pacing.ts';

const measured = (utilization: number): EventLoopUtilization => ({ idle: 0, active: 0, utilization });

test('does not delay a piece while the event loop is not busy, however fast text arrives', () => {
	const pacing = new TextPacing(
		() => measured(0.5),
		() => 1_000,
	);
	assert.equal(pacing.delayMs, 0);
	for (let piece = 0; piece < 3; piece++) {
		pacing.recordText();
		assert.equal(pacing.delayMs, 0);
	}
});

test('spaces the pieces after the first one by 16 ms while the event loop is busy', () => {
	let now = 1_000;
	let utilization = 0.51;
	const pacing = new TextPacing(
		() => measured(utilization),
		() => now,
	);
	assert.equal(pacing.delayMs, 0, 'the first text is never delayed');
	pacing.recordText();
	assert.equal(pacing.delayMs, 16);
	now += 10;
	assert.equal(pacing.delayMs, 6);
	now += 5.5;
	assert.equal(pacing.delayMs, 0, 'no timer for half a millisecond');
	pacing.recordText();
	assert.equal(pacing.delayMs, 16);
	utilization = 0.1;
	pacing.recordText();
	assert.equal(pacing.delayMs, 0, 'the load has gone');
});

test('spaces the pieces by 100 ms while the event loop is nearly overloaded', () => {
	let utilization = 0.86;
	const pacing = new TextPacing(
		() => measured(utilization),
		() => 1_000,
	);
	pacing.recordText();
	assert.equal(pacing.delayMs, 100);
	utilization = 0.85;
	pacing.recordText();
	assert.equal(pacing.delayMs, 16);
});

test('measures the utilization from the text before', () => {
	const starts: Array<EventLoopUtilization | undefined> = [];
	const snapshots = [measured(1), measured(2), measured(3)];
	const pacing = new TextPacing((since) => {
		if (since === undefined) return snapshots.shift() as EventLoopUtilization;
		starts.push(since);
		return measured(0);
	});
	pacing.recordText();
	pacing.recordText();
	assert.deepEqual(starts, [measured(1), measured(2)]);
});
