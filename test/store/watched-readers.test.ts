import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeFence, Writer } from '../../src/store/sqlite/writer.ts';
import { watchedReaders } from './watched-readers.ts';

const COUNT = 20_000;
const RARE = ['tool.execution_failed', 'knowledge_base.indexed'];

/** The places of some among so many. */
const everyNth = (nth: number) => Array.from({ length: COUNT }, (_, at) => at + 1).filter((seq) => seq % nth === 0);

test('finds rare types in a long log without scanning it', async (t) => {
	const { db, readers, visits } = await watchedReaders(t, 'events', 'seq');
	const insert = db.prepare(
		`INSERT INTO main.events (seq, id, stream, type, data, created_at) VALUES (?, 'evt_' || ?, 'ws_1', ?, '{}', ?)`,
	);
	const typeOf = (seq: number) => (seq % 4_000 === 0 ? RARE[(seq / 4_000) % 2] : 'message.created') as string;
	db.transaction(() => {
		for (let seq = 1; seq <= COUNT; seq++) insert.run(seq, seq, typeOf(seq), seq);
	})();
	const ask = (after: number, limit: number, types: string[]) =>
		visits(async () => (await readers.events.after('ws_1', after, limit, types)).map(({ seq }) => seq));

	const rare = everyNth(4_000);
	assert.deepEqual((await ask(0, 20, RARE)).answer, rare);
	assert.deepEqual((await ask(4_000, 2, RARE)).answer, rare.slice(1, 3));
	for (const [after, limit, types] of [
		[0, 20, RARE],
		[0, 20, ['conversation.closed', ...RARE]],
		[8_000, 1, RARE],
		[0, 20, ['message.created', ...RARE]],
		[0, 20, []],
	] as const) {
		const { rows, answer } = await ask(after, limit, [...types]);
		const most = limit * Math.max(1, types.length) + types.length;
		assert.ok(rows >= answer.length && rows <= most, `${types}: ${rows} rows for ${answer.length}`);
	}
});

test('finds deliveries by status, type or both without scanning the others', async (t) => {
	const { db, readers, visits } = await watchedReaders(t, 'deliveries', 'id');
	const insert = db.prepare(
		`INSERT INTO main.deliveries (id, version, workspace_id, webhook_id, event_seq, event_id, event_type, status, attempts,
		 failures, created_at, updated_at) VALUES (?, 1, 'ws_1', 'hook_1', ?, 'evt_1', ?, ?, 1, 0, ?, 0)`,
	);
	const id = (seq: number) => `dlv_${String(seq).padStart(6, '0')}`;
	// One of the two types always fails, but for a few: no index of one field alone is of any use.
	const statusOf = (seq: number) => ((seq % 2 === 0) === (seq % 5_000 === 0) ? 'delivered' : 'failed');
	const typeOf = (seq: number) => (seq % 2 === 0 ? 'message.created' : 'conversation.created');
	db.transaction(() => {
		// Of several in one millisecond the order is that of their ids.
		for (let seq = 1; seq <= COUNT; seq++) insert.run(id(seq), seq, typeOf(seq), statusOf(seq), seq >> 2);
	})();
	const all = everyNth(1);
	const cases = [
		{},
		{ status: 'delivered' },
		{ status: 'failed' },
		{ status: 'cancelled' },
		{ event_type: 'message.created' },
		{ event_type: 'message.created', status: 'failed' },
		{ event_type: 'message.created', status: 'delivered' },
		{ event_type: 'assistant.updated', status: 'failed' },
	] as const;
	for (const where of cases) {
		const told = JSON.stringify(where);
		for (const order of ['asc', 'desc'] as const) {
			const matching = all.filter(
				(seq) =>
					(!('status' in where) || where.status === statusOf(seq)) &&
					(!('event_type' in where) || where.event_type === typeOf(seq)),
			);
			const expected = order === 'asc' ? matching : matching.toReversed();
			const ask = (after: number | undefined, limit: number) =>
				visits(async () => {
					const found = await readers.list('deliveries', {
						where: { webhook_id: 'hook_1', ...where },
						after: after === undefined ? undefined : { at: after >> 2, id: id(after) },
						order,
						limit,
					});
					return found.map((delivery) => delivery.event_seq);
				});
			let after: number | undefined;
			for (let page = 0; page < 3; page++) {
				const { rows, answer } = await ask(after, 15);
				assert.deepEqual(answer, expected.slice(page * 15, page * 15 + 15), `${told} ${order} ${page}`);
				assert.ok(rows <= 60, `${told} ${order}: ${rows} rows`);
				after = answer.at(-1);
				if (after === undefined) break;
			}
		}
	}
});

test('scans the times of a long log in steps', async (t) => {
	const { db, readers, visits } = await watchedReaders(t, 'events', 'seq');
	const insert = db.prepare(
		`INSERT INTO main.events (seq, id, stream, type, data, created_at) VALUES (?, 'evt_' || ?, 'ws_1', 'message.created', '{}', ?)`,
	);
	db.transaction(() => {
		// All in one millisecond, but for the first and the last.
		for (let seq = 1; seq <= COUNT; seq++) insert.run(seq, seq, seq === 1 ? 8 : seq === COUNT ? 9 : 7);
	})();
	const all = await visits(() => readers.events.range(7, 9));
	assert.deepEqual(all.answer, { first: 1, last: COUNT });
	assert.ok(all.rows <= COUNT + 20, `${all.rows} rows`);
	assert.ok(all.atOnce <= 10_000, `${all.atOnce} at once`);
	const some = await visits(() => readers.events.range(8, 20));
	assert.deepEqual(some.answer, { first: 1, last: COUNT });
	assert.ok(some.rows <= 3, `${some.rows} rows for two events`);
});

test('old events with pending deliveries block neither thread during the search for expired ones', async (t) => {
	const { db, readers, visits } = await watchedReaders(t, 'deliveries', 'id');
	const insertEvent = db.prepare(
		`INSERT INTO events (seq, id, stream, type, data, created_at) VALUES (?, 'evt_' || ?, 'ws_1', 'message.created', '{}', ?)`,
	);
	const insertDelivery = db.prepare(
		`INSERT INTO main.deliveries (id, version, workspace_id, webhook_id, event_seq, event_id, event_type, status, attempts,
		 failures, due_at, created_at, updated_at)
		 VALUES ('dlv_' || @seq, 1, 'ws_1', 'hook_1', @seq, 'evt_1', 'message.created', 'pending', 0, 0, 0, 0, 0)`,
	);
	const free = [1, 9_000, COUNT - 1, COUNT];
	db.transaction(() => {
		for (let seq = 1; seq <= COUNT; seq++) {
			insertEvent.run(seq, seq, seq);
			if (!free.includes(seq)) insertDelivery.run({ seq });
		}
	})();
	const writer = new Writer(db, takeFence(db, 'main', 'test'));
	const before = COUNT + 1;
	const kept = () => free.filter((seq) => db.prepare('SELECT 1 FROM events WHERE seq = ?').get(seq) !== undefined);
	for (let commits = 0; ; commits++) {
		assert.ok(commits < 100, 'it comes to an end');
		const { answer, atOnce } = await visits(() => readers.events.hasExpired(before));
		assert.ok(atOnce <= 2_000, `the main thread looks at ${atOnce} at once`);
		if (!answer) break;
		const { rows } = await visits(async () => {
			writer.run([{ task: 'commit', commit: { write: [{ op: 'erase_events', before, limit: 500 }] } }]);
		});
		assert.ok(rows <= 2_000, `the writer looks at ${rows} in one commit`);
	}
	assert.deepEqual(kept(), []);
	assert.equal(db.prepare('SELECT count(*) FROM events').pluck().get(), COUNT - free.length);
});
