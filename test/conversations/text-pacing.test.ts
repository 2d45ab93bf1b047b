import assert from 'node:assert/strict';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { test } from 'node:test';
import { chatCompletions } from '../../src/models/providers/chat-completions/index.ts';
import { readAnswer } from '../../src/models/providers/read-answer.ts';
import { ReadPacing } from '../../src/models/providers/read-pacing.ts';

const measured = (utilization: number): EventLoopUtilization => ({ idle: 0, active: 0, utilization });

test('does not delay a read while the event loop is not busy, however fast text arrives', () => {
	const pacing = new ReadPacing(
		() => measured(0.5),
		() => 1_000,
	);
	assert.equal(pacing.delayMs, 0);
	for (let read = 0; read < 3; read++) {
		pacing.recordText();
		assert.equal(pacing.delayMs, 0);
	}
});

test('spaces the reads after the first text by 16 ms while the event loop is busy', () => {
	let now = 1_000;
	let utilization = 0.51;
	const pacing = new ReadPacing(
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

test('measures the utilization from the text before', () => {
	const starts: Array<EventLoopUtilization | undefined> = [];
	const snapshots = [measured(1), measured(2), measured(3)];
	const pacing = new ReadPacing((since) => {
		if (since === undefined) return snapshots.shift() as EventLoopUtilization;
		starts.push(since);
		return measured(0);
	});
	pacing.recordText();
	pacing.recordText();
	assert.deepEqual(starts, [measured(1), measured(2)]);
});

/** The stream of an answer, one event for each read. */
function streamOf(tokens: readonly string[]): ReadableStream<Uint8Array> {
	const chunks = tokens.map((content) => JSON.stringify({ choices: [{ index: 0, delta: { content } }] }));
	const finish = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
	const events = [...chunks, finish, '[DONE]'].map((data) => Buffer.from(`data: ${data}\n\n`));
	return new ReadableStream(
		{
			pull(controller) {
				const event = events.shift();
				if (event === undefined) controller.close();
				else controller.enqueue(event);
			},
		},
		{ highWaterMark: 0 },
	);
}

test('asks for the delay before each read, and records each read that had text', async () => {
	const calls: string[] = [];
	const pacing = {
		recordText: () => void calls.push('text'),
		get delayMs() {
			calls.push('read');
			return 0;
		},
	};
	for await (const events of readAnswer(streamOf(['a', 'b']), chatCompletions.reader(), pacing)) {
		for (const event of events) if (event.type === 'text_delta') calls.push(event.text);
	}
	const end = ['read', 'read', 'read'];
	assert.deepEqual(calls, ['read', 'text', 'a', 'read', 'text', 'b', ...end]);
});
