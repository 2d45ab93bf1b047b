import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deferred } from '../../src/base/index.ts';
import { ReportQueue } from '../../src/conversations/report-queue.ts';

const asText = (text: string) => text;

const notBusy = { recordText: () => {}, delayMs: 0 };

test('sends the first text of a round at once, joins later texts of one turn of the event loop, and sends them before a report', async () => {
	const posted: string[] = [];
	const queue = new ReportQueue<string>((report) => posted.push(report) > 0, nextTurn, notBusy);
	queue.addText('a', asText);
	assert.deepEqual(posted, ['a']);
	queue.addText('b', asText);
	queue.addText('c', asText);
	assert.deepEqual(posted, ['a']);
	await nextTurn();
	await nextTurn();
	assert.deepEqual(posted, ['a', 'bc']);
	queue.addText('d', asText);
	queue.add('call');
	queue.addText('e', asText);
	assert.deepEqual(posted, ['a', 'bc', 'd', 'call', 'e']);
});

test('joins texts for longer while the event loop is busy, but the end of the reply never waits', async () => {
	const posted: string[] = [];
	const busy = { recordText: () => {}, delayMs: 3_600_000 };
	const queue = new ReportQueue<string>((report) => posted.push(report) > 0, nextTurn, busy);
	for (const text of ['a', 'b', 'c']) {
		queue.addText(text, asText);
		await nextTurn();
	}
	assert.deepEqual(posted, ['a']);
	queue.add('end');
	assert.deepEqual(posted, ['a', 'bc', 'end']);
});

test('while there is no room reports wait until they are told of some, and none is lost or comes out of order', async () => {
	const posted: string[] = [];
	let tries = 0;
	let isFull = true;
	let room = deferred<void>();
	const queue = new ReportQueue<string>(
		(report) => {
			tries++;
			if (!isFull) posted.push(report);
			return !isFull;
		},
		() => room.promise,
		notBusy,
	);
	queue.add('first');
	queue.addText('se', asText);
	for (let turn = 0; turn < 50; turn++) await nextTurn();
	queue.addText('cond', asText);
	queue.add('third');
	for (let turn = 0; turn < 50; turn++) await nextTurn();
	assert.equal(tries, 1, 'a full mailbox is not asked over and over');
	const taken = room;
	room = deferred();
	taken.resolve();
	for (let turn = 0; turn < 50; turn++) await nextTurn();
	assert.deepEqual([tries, posted], [2, []], 'somebody else was faster');
	isFull = false;
	room.resolve();
	await nextTurn();
	assert.deepEqual(posted, ['first', 'second', 'third']);
});

test('holds every report until a commit is on disk, and drops them all if it fails', async () => {
	for (const isCommitted of [true, false]) {
		const posted: string[] = [];
		const queue = new ReportQueue<string>((report) => posted.push(report) > 0, nextTurn, notBusy);
		const commit = deferred<void>();
		queue.holdUntil(commit.promise);
		queue.addText('a', asText);
		await nextTurn();
		queue.add('call');
		queue.addText('b', asText);
		queue.add('end');
		await nextTurn();
		assert.deepEqual(posted, []);
		if (isCommitted) commit.resolve();
		else commit.reject(new Error('The disk is full.'));
		await nextTurn();
		queue.add('late');
		assert.deepEqual(posted, isCommitted ? ['a', 'call', 'b', 'end', 'late'] : []);
	}
});
