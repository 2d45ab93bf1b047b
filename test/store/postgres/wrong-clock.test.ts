import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { Commit, OpenedStore } from '../../../src/store/index.ts';
import { openPostgresStore } from '../../../src/store/postgres/index.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { job } from '../contract/jobs.ts';

const HOUR = 3_600_000;

suite('a node whose clock is wrong', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let store: OpenedStore;
	before(async () => {
		server = await startPostgres();
		store = await openPostgresStore({ url: await server.database('wrong-clock') });
	});
	after(async () => {
		await store[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
	});

	/** A write that needs statements of its own, so that the commit is not part of a batch. */
	const composed = { write: [{ op: 'erase_expired', before: 0, limit: 1 }] } satisfies Commit;

	for (const [what, rest] of [
		['in a batch', {}],
		['in a transaction of its own', composed],
	] as const) {
		test(`postpones a job by as long as it means to, ${what}`, async (t) => {
			for (const ahead of [HOUR, -HOUR]) {
				const kind = newId('job');
				const [soon, later, queued] = [job({ kind }), job({ kind }), job({ kind })];
				await store.commit({ jobs: [soon, later].map((one) => ({ op: 'enqueue', job: one })) });
				assert.equal((await store.jobs.claim(kind, 10, HOUR)).length, 2);
				const now = Date.now;
				const clock = t.mock.method(Date, 'now', () => now() + ahead);
				const committed = store.commit({
					...rest,
					jobs: [
						{ op: 'postpone', id: soon.id, due_at: Date.now() + 20 },
						{ op: 'postpone', id: later.id, due_at: Date.now() + HOUR / 2 },
						{ op: 'enqueue', job: { ...queued, due_at: Date.now() - 10 } },
					],
				});
				assert.equal((await committed).outcome, 'committed');
				clock.mock.restore();
				const claimed = new Set<string>();
				await until('the jobs are due', async () => {
					for (const { id } of await store.jobs.claim(kind, 10, HOUR)) claimed.add(id);
					return claimed.size >= 2;
				});
				assert.deepEqual([...claimed].sort(), [soon.id, queued.id].sort());
				const { now: present, jobs } = await store.state();
				const waitMs = (jobs.find((one) => one.kind === kind)?.oldest_due_at ?? 0) - present;
				assert.ok(waitMs > HOUR / 4 && waitMs <= HOUR / 2, `${waitMs} ms`);
			}
		});
	}
});
