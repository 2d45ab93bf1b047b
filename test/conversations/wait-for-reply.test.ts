import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PullSource } from '../../src/base/index.ts';
import { waitForReply } from '../../src/conversations/wait-for-reply.ts';
import type { PositionedUpdate } from '../../src/outbox/index.ts';
import type { MessageRecord } from '../../src/store/index.ts';

/** Updates that end at once, as those of a conversation that another node has taken over. */
const ended: PullSource<PositionedUpdate> = { isEnded: true, open() {}, read: () => null, close() {} };
const reply = { id: 'msg_1', conversation_id: 'conv_1', status: 'in_progress' } as MessageRecord;

/** A store in which the reply is completed when it is read for the n-th time. */
function storeThatCompletesAt(read: number) {
	let reads = 0;
	const get = async () => ({ ...reply, status: ++reads >= read ? 'completed' : 'in_progress' });
	return { get: get as never };
}

suite('waiting for a reply whose updates end', () => {
	const wait = (store: { get: never }, signal: AbortSignal, mayMove: boolean) => {
		return waitForReply({ subscribe: () => ended }, store, { reply, position: 1 } as never, signal, mayMove);
	};

	test('returns the reply once another node has completed it', async () => {
		const stored = await wait(storeThatCompletesAt(3), new AbortController().signal, true);
		assert.equal(stored.status, 'completed');
	});

	test('returns a reply that was completed before the updates ended', async () => {
		const stored = await wait(storeThatCompletesAt(1), new AbortController().signal, false);
		assert.equal(stored.status, 'completed');
	});

	test('refuses where no other node writes it, or the request ends', async () => {
		const never = Number.POSITIVE_INFINITY;
		const isUnavailable = { code: 'unavailable' };
		await assert.rejects(wait(storeThatCompletesAt(never), new AbortController().signal, false), isUnavailable);
		await assert.rejects(wait(storeThatCompletesAt(never), AbortSignal.abort(), true), isUnavailable);
	});
});
