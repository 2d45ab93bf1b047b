import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { event, NOON, webhook } from '../samples.ts';

/** What is stored with the conversations of an end user. */
export function endUserContract(opened: () => Store): void {
	test('reads the events about a conversation and those of its stream in one order, each once', async () => {
		const store = opened();
		const [workspace, id] = [newId('workspace'), newId('conversation')];
		const end = await store.commit({
			events: [
				event(id),
				{ ...event(workspace), subject: id },
				{ ...event(id), subject: id },
				event(workspace),
				{ ...event(workspace), subject: id },
			],
		});
		const seqs = end.outcome === 'committed' ? end.seqs : [];
		const about = [seqs[0], seqs[1], seqs[2], seqs[4]];
		const read = async (seq: number, limit: number) =>
			(await store.endUsers.eventsAbout(id, seq, limit)).map((one) => one.seq);
		assert.deepEqual(await read(0, 9), about);
		assert.deepEqual(await read(0, 3), about.slice(0, 3));
		assert.deepEqual(await read(seqs[1] ?? 0, 9), about.slice(2));
		const [first] = await store.endUsers.eventsAbout(id, 0, 1);
		assert.deepEqual([first?.data, first?.stream], [{ n: 1 }, id]);
	});

	test('reads the deliveries of an event', async () => {
		const store = opened();
		const workspace_id = newId('workspace');
		const endpoints = [webhook({ workspace_id }), webhook({ workspace_id })];
		await store.commit({ write: endpoints.map((record) => ({ op: 'insert', kind: 'webhooks', record })) });
		const end = await store.commit({ events: [event(workspace_id)] });
		const [seq] = end.outcome === 'committed' ? end.seqs : [];
		const found = await store.endUsers.deliveriesOf(seq ?? 0);
		assert.deepEqual(found.map(({ webhook_id }) => webhook_id).toSorted(), endpoints.map(({ id }) => id).toSorted());
		assert.deepEqual(await store.endUsers.deliveriesOf((seq ?? 0) + 1_000_000), []);
	});

	test('pages the stored responses that show a conversation by scope and key', async () => {
		const store = opened();
		const [subject, scope] = [newId('conversation'), newId('workspace')];
		const stored = { body_hash: 'hash', status: 200, body: '{}', subject, expires_at: NOON };
		for (const key of ['b', 'a', 'B']) await store.commit({ idempotency: { ...stored, scope, key } });
		await store.commit({ idempotency: { ...stored, scope: `${scope}0`, key: 'A' } });
		await store.commit({ idempotency: { ...stored, scope, key: 'c', subject: null } });
		const first = await store.endUsers.answersAbout(subject, { scope: '', key: '' }, 3);
		assert.deepEqual(
			first.map(({ key }) => key),
			['B', 'a', 'b'],
		);
		const rest = await store.endUsers.answersAbout(subject, first.at(-1) ?? assert.fail(), 3);
		assert.deepEqual(
			rest.map((one) => ({ ...one })),
			[{ scope: `${scope}0`, key: 'A', status: 200, body: '{}', expires_at: NOON }],
		);
	});
}
