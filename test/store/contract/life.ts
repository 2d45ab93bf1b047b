import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { assistant, event } from '../samples.ts';
import { enqueue, job } from './jobs.ts';

/** Opens the store in a folder, which is empty at first. The same folder again is the same store. */
export type OpenStore = (place: string) => Promise<Store>;

const HOUR = 3_600_000;

/** What survives closing and opening. */
export function lifeContract(open: OpenStore): void {
	test('a reopened store has all its data, a later epoch and later sequence numbers', async (t) => {
		const place = await temporaryPlace(t);
		const record = assistant();
		const stream = newId('workspace');
		const first = await open(place);
		await first.commit({ write: [{ op: 'insert', kind: 'assistants', record }], events: [event(stream)] });
		await first[Symbol.asyncDispose]();

		await using second = await open(place);
		assert.deepEqual({ ...(await second.get('assistants', record.id)) }, { ...record, version: 1 });
		assert.ok(second.fence.epoch > first.fence.epoch);
		await second.commit({ events: [event(stream)] });
		const [before, after] = await second.events.after(stream, 0, 10);
		assert.ok(before && after && after.seq > before.seq);
	});

	test('jobs claimed by an earlier process are free at once, and settled ones stay settled', async (t) => {
		const place = await temporaryPlace(t);
		const kind = newId('job');
		const [inHand, done, untouched] = [job({ kind, due_at: 1 }), job({ kind, due_at: 2 }), job({ kind, due_at: 3 })];
		const first = await open(place);
		await enqueue(first, [inHand, done, untouched]);
		assert.equal((await first.jobs.claim(kind, 2, HOUR)).length, 2);
		await first.commit({ jobs: [{ op: 'complete', id: done.id }] });
		await first[Symbol.asyncDispose]();

		await using second = await open(place);
		assert.deepEqual(
			(await second.jobs.claim(kind, 10, HOUR)).map(({ id, attempts }) => [id, attempts]),
			[
				[inHand.id, 2],
				[untouched.id, 1],
			],
		);
	});

	test('commits during the close of a store are either made or refused, and later ones are refused', async (t) => {
		const place = await temporaryPlace(t);
		const store = await open(place);
		const records = Array.from({ length: 60 }, () => assistant());
		const commit = (n: number) => {
			const record = records[n];
			assert.ok(record);
			return store.commit({ write: [{ op: 'insert', kind: 'assistants', record }] });
		};
		const ends = Array.from({ length: 20 }, (_, n) => settled(commit(n)));
		const closing = store[Symbol.asyncDispose]();
		for (let n = 20; n < 60; n++) {
			ends.push(settled(commit(n)));
			if (n % 5 === 0) await new Promise(setImmediate);
		}
		await closing;
		await assert.rejects(store.commit({}), { code: 'unavailable' });
		await assert.rejects(store.jobs.claim('any', 1, HOUR), { code: 'unavailable' });
		await store[Symbol.asyncDispose]();

		await using second = await open(place);
		for (const [n, pending] of ends.entries()) {
			const end = await pending;
			const stored = (await second.get('assistants', records[n]?.id ?? '')) !== undefined;
			if (end?.status === 'rejected') assert.equal(end.reason.code, 'unavailable');
			assert.equal(stored, end?.status === 'fulfilled', `commit ${n}`);
			if (n < 20) assert.ok(stored, 'what was committed before closing is carried out');
		}
	});
}

async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T> | undefined> {
	return (await Promise.allSettled([promise]))[0];
}

/** A folder that is removed after the test. */
export async function temporaryPlace(t: { after(clean: () => Promise<void>): void }): Promise<string> {
	const place = await mkdtemp(join(tmpdir(), 'parley-store-'));
	t.after(() => rm(place, { recursive: true, force: true }));
	return place;
}
