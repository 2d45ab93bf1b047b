import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WriterTask } from '../../src/store/sqlite/writer.ts';
import { WriterQueue } from '../../src/store/sqlite/writer-queue.ts';
import type { ToWriter } from '../../src/store/sqlite/writer-thread.ts';

const taskOf = (kind: string): WriterTask => ({ task: 'claim', kind, limit: 1, now: 0, leaseMs: 1 });

test('tasks that cannot be sent together are sent one by one, in order, and none is lost', async () => {
	const posted: string[][] = [];
	const post = (message: ToWriter) => {
		const kinds = (message as { tasks: { kind: string }[] }).tasks.map(({ kind }) => kind);
		if (kinds.length > 1 || kinds.includes('refused')) throw new Error('cannot be cloned');
		posted.push(kinds);
	};
	const queue = new WriterQueue(post, () => {});
	const outcomes = ['first', 'refused', 'last'].map((kind) => queue.add(taskOf(kind)));
	assert.deepEqual(await outcomes[1], { ok: false, message: 'cannot be cloned' });
	assert.deepEqual(posted, [['first'], ['last']]);
	queue.receive([{ ok: true, value: [] }]);
	queue.receive([{ ok: true, value: [] }]);
	assert.deepEqual(await Promise.all([outcomes[0], outcomes[2]]), [
		{ ok: true, value: [] },
		{ ok: true, value: [] },
	]);
	assert.equal(queue.size, 0);
});
