import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { Store, StoredEvent } from '../../../src/store/index.ts';
import { event } from '../samples.ts';

/** Each event arrives once, in commit order, both live and from the log. */
export function eventContract(opened: () => Store): void {
	test('listeners get all events in commit order, as in the log', async () => {
		const store = opened();
		const streams = [newId('conversation'), newId('conversation'), newId('workspace')];
		const heard: StoredEvent[] = [];
		const end = store.onEvents((events) => heard.push(...events));
		const commits = Array.from({ length: 100 }, (_, n) =>
			Array.from({ length: n % 4 }, (_, m) => event(streams[(n + m) % 3] as string, 'tick', { n, m, text: 'é🧭' })),
		);
		const outcomes: number[][] = [];
		// Several turns of the event loop, so that several batches run at once.
		await Promise.all(
			commits.map(async (events, n) => {
				for (let turn = n % 5; turn > 0; turn--) await new Promise(setImmediate);
				const result = await store.commit({ events });
				assert.equal(result.outcome, 'committed');
				if (result.outcome === 'committed') outcomes[n] = result.seqs;
			}),
		);
		end();

		const seqs = heard.map(({ seq }) => seq);
		assert.equal(heard.length, commits.flat().length);
		assert.ok(seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] as number)));
		for (const [n, events] of commits.entries()) {
			assert.deepEqual(
				events.map(({ id }) => heard.find((one) => one.id === id)?.seq),
				outcomes[n],
			);
		}
		for (const stream of streams) {
			assert.deepEqual(
				await store.events.after(stream, 0, 1000),
				heard.filter((one) => one.stream === stream),
			);
		}
	});

	test('listeners get each commit that was carried out, once and in order, until they end', async () => {
		const store = opened();
		const heard: unknown[] = [];
		const end = store.onCommits(({ events }) => heard.push(events?.[0]?.data));
		const commits = Array.from({ length: 20 }, (_, n) => ({ events: [event('elsewhere', 'tick', { n })] }));
		await Promise.all(commits.map((commit) => store.commit(commit)));
		const missing = { kind: 'assistants', id: newId('assistant'), version: 1 } as const;
		assert.equal((await store.commit({ expect: [missing], events: [event('elsewhere')] })).outcome, 'conflict');
		end();
		await store.commit({ events: [event('elsewhere')] });
		assert.deepEqual(
			heard,
			commits.map(({ events }) => events[0]?.data),
		);
	});

	test('the log can be read from any position', async () => {
		const store = opened();
		const stream = newId('conversation');
		for (const n of [1, 2, 3, 4, 5]) await store.commit({ events: [event(stream, 'tick', { n }), event('elsewhere')] });
		const all = await store.events.after(stream, 0, 100);
		assert.deepEqual(
			all.map(({ data }) => data),
			[1, 2, 3, 4, 5].map((n) => ({ n })),
		);
		for (const [index, { seq }] of all.entries()) {
			assert.deepEqual(await store.events.after(stream, seq, 100), all.slice(index + 1));
			assert.deepEqual(await store.events.after(stream, seq - 1, 2), all.slice(index, index + 2));
		}
	});

	test('listeners get an event before its commit resolves, when it is already in the log', async () => {
		const store = opened();
		const stream = newId('conversation');
		const order: string[] = [];
		const reads: Array<Promise<StoredEvent[]>> = [];
		const end = store.onEvents(() => {
			order.push('heard');
			reads.push(store.events.after(stream, 0, 10));
		});
		await store.commit({ events: [event(stream)] }).then(() => order.push('resolved'));
		end();
		assert.deepEqual(order, ['heard', 'resolved']);
		assert.equal((await reads[0])?.length, 1);
	});

	test('listeners get no events of a refused commit, and none after they were removed', async () => {
		const store = opened();
		const heard: StoredEvent[] = [];
		const end = store.onEvents((events) => heard.push(...events));
		const gone = { kind: 'assistants' as const, id: newId('assistant'), version: 1 };
		await store.commit({ expect: [gone], events: [event('refused')] });
		end();
		await store.commit({ events: [event('after')] });
		assert.deepEqual(heard, []);
	});
}
