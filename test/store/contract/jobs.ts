import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdGenerator, newId } from '../../../src/base/index.ts';
import type { Job, OpenedStore, Store } from '../../../src/store/index.ts';
import { until } from '../../support/until.ts';

const HOUR = 3_600_000;

/** Jobs run at least once, one claim at a time, in turns between their groups. */
export function jobContract(opened: () => Store & Pick<OpenedStore, 'state'>): void {
	test('tells how long the oldest job of a kind has waited, without those that run', async () => {
		const store = opened();
		const kind = newId('job');
		const oldest = async () => (await store.state()).jobs.find((one) => one.kind === kind)?.oldest_due_at;
		await enqueue(store, [job({ kind, due_at: 40 }), job({ kind, due_at: 50 })]);
		assert.equal(await oldest(), 40);
		assert.equal((await store.jobs.claim(kind, 2, HOUR)).length, 2);
		assert.equal(await oldest(), null);
		const made = [20_000, 30_000].map((ago) => Date.now() - ago);
		const atOnce = made.map((now) => job({ kind, id: new IdGenerator().next('job', now), due_at: 0 }));
		await enqueue(store, atOnce);
		assert.equal(await oldest(), made[1], 'what is due at once is due since it was made');
		await store.jobs.claim(kind, 1, HOUR);
		assert.equal(await oldest(), made[0]);
	});

	test('groups take turns: a group with many jobs does not delay the others', async () => {
		const store = opened();
		const kind = newId('job');
		const jobs = [
			...[1, 2, 3, 4, 5].map((due_at) => job({ kind, group: 'many', due_at })),
			job({ kind, group: 'one', due_at: 10 }),
			...[11, 12].map((due_at) => job({ kind, group: 'two', due_at })),
		];
		await enqueue(store, jobs);
		const groups = async (limit: number) => (await store.jobs.claim(kind, limit, HOUR)).map(({ group }) => group);
		assert.deepEqual(await groups(3), ['many', 'one', 'two']);
		assert.deepEqual(await groups(3), ['many', 'two', 'many']);
		assert.deepEqual(await groups(3), ['many', 'many']);
		assert.deepEqual(await groups(3), []);
	});

	test('claims the jobs of a group in order of due time, and none before it is due', async () => {
		const store = opened();
		const kind = newId('job');
		const jobs = [30, 10, Date.now() + HOUR, 20].map((due_at) => job({ kind, due_at }));
		await enqueue(store, jobs);
		const claimed = await store.jobs.claim(kind, 10, HOUR);
		assert.deepEqual(
			claimed.map(({ id }) => id),
			[jobs[1], jobs[3], jobs[0]].map((one) => one?.id),
		);
		assert.deepEqual(claimed[0], { ...jobs[1], attempts: 1 });
	});

	test('a due time that only a wrong clock can have set does not delay a job', async () => {
		const store = opened();
		const kind = newId('job');
		await enqueue(store, [job({ kind, due_at: Date.now() + 48 * HOUR })]);
		assert.equal((await store.jobs.claim(kind, 10, HOUR)).length, 1);
		assert.equal((await store.jobs.claim(kind, 10, HOUR)).length, 0, 'it is claimed now');
	});

	test('claims made at the same time never get the same job', async () => {
		const store = opened();
		const kind = newId('job');
		await enqueue(
			store,
			Array.from({ length: 20 }, (_, n) => job({ kind, group: `g${n % 3}` })),
		);
		const claims = await Promise.all(Array.from({ length: 8 }, () => store.jobs.claim(kind, 3, HOUR)));
		assert.deepEqual(
			claims.map(({ length }) => length),
			[3, 3, 3, 3, 3, 3, 2, 0],
		);
		assert.equal(new Set(claims.flat().map(({ id }) => id)).size, 20);
	});

	test('a job whose lease has run out is claimed again, and its attempts are counted', async () => {
		const store = opened();
		const kind = newId('job');
		await enqueue(store, [job({ kind })]);
		assert.equal((await store.jobs.claim(kind, 1, 5))[0]?.attempts, 1);
		const again = await until('the lease runs out', async () => (await store.jobs.claim(kind, 1, HOUR))[0]);
		assert.equal(again.attempts, 2);
		assert.deepEqual(await store.jobs.claim(kind, 1, HOUR), []);
	});

	test('a short lease does not take a job with a long lease', async () => {
		const store = opened();
		const kind = newId('job');
		await enqueue(store, [job({ kind })]);
		assert.equal((await store.jobs.claim(kind, 1, HOUR)).length, 1);
		assert.deepEqual(await store.jobs.claim(kind, 1, 1), []);
	});

	test('a postponed job is free from its new due time on, and its attempts are counted from zero', async () => {
		const store = opened();
		const kind = newId('job');
		const [soon, later] = [job({ kind }), job({ kind })];
		await enqueue(store, [soon, later]);
		assert.equal((await store.jobs.claim(kind, 10, HOUR)).length, 2);
		await store.commit({
			jobs: [
				{ op: 'postpone', id: soon.id, due_at: Date.now() - 1 },
				{ op: 'postpone', id: later.id, due_at: Date.now() + HOUR },
			],
		});
		assert.deepEqual(
			(await store.jobs.claim(kind, 10, HOUR)).map(({ id, attempts }) => [id, attempts]),
			[[soon.id, 1]],
		);
	});

	test('a claim holds until its job is completed or postponed', async () => {
		const store = opened();
		const kind = newId('job');
		const [done, postponed] = [job({ kind }), job({ kind })];
		await enqueue(store, [done, postponed]);
		const areClaimed = () => Promise.all([done, postponed].map(({ id }) => store.jobs.isClaimed(id)));
		assert.deepEqual(await areClaimed(), [false, false]);
		await store.jobs.claim(kind, 10, HOUR);
		assert.deepEqual(await areClaimed(), [true, true]);
		await store.commit({
			jobs: [
				{ op: 'complete', id: done.id },
				{ op: 'postpone', id: postponed.id, due_at: 0 },
			],
		});
		assert.deepEqual(await areClaimed(), [false, false]);
		await store.jobs.claim(kind, 10, HOUR);
		assert.deepEqual(await areClaimed(), [false, true]);
	});

	test('a job whose attempts are restarted stays claimed, and its next claim is the second', async () => {
		const store = opened();
		const kind = newId('job');
		const one = job({ kind });
		await enqueue(store, [one]);
		const claim = (leaseMs: number) =>
			until('it is free', async () => (await store.jobs.claim(kind, 1, leaseMs))[0]?.attempts);
		for (const attempts of [1, 2]) assert.equal(await claim(1), attempts);
		await store.commit({ jobs: [{ op: 'restart_attempts', id: one.id }] });
		assert.ok(await store.jobs.isClaimed(one.id));
		assert.equal(await claim(HOUR), 2);
	});

	test('a job whose claim is given back is due at once, and only its other claims count', async () => {
		const store = opened();
		const kind = newId('job');
		const one = job({ kind });
		await enqueue(store, [one]);
		const claim = (leaseMs: number) =>
			until('it is free', async () => (await store.jobs.claim(kind, 1, leaseMs))[0]?.attempts);
		for (const attempts of [1, 2]) assert.equal(await claim(1), attempts);
		assert.equal(await claim(HOUR), 3);
		await store.commit({ jobs: [{ op: 'give_back', id: one.id }] });
		assert.deepEqual([await store.jobs.isClaimed(one.id), await claim(HOUR)], [false, 3]);
	});

	test('makes postponed jobs due at once: of the kind, group or id that is named', async () => {
		const store = opened();
		const [kind, other] = [newId('job'), newId('job')];
		const [group, ref] = [newId('knowledge_base'), newId('document')];
		const jobs = [job({ kind, group }), job({ kind, ref }), job({ kind }), job({ kind: other, group, ref })];
		await enqueue(store, jobs);
		const due_at = Date.now() + HOUR;
		await store.commit({ jobs: jobs.map(({ id }) => ({ op: 'postpone', id, due_at })) });
		const claimed = async () => (await store.jobs.claim(kind, 10, HOUR)).map(({ id }) => id);
		assert.deepEqual(await claimed(), []);
		await store.commit({ jobs: [{ op: 'make_due', kind, group }] });
		assert.deepEqual(await claimed(), [jobs[0]?.id]);
		await store.commit({ jobs: [{ op: 'make_due', kind, ref }] });
		assert.deepEqual(await claimed(), [jobs[1]?.id]);
		await store.commit({ jobs: [{ op: 'make_due', kind }] });
		assert.deepEqual(await claimed(), [jobs[2]?.id], 'claimed jobs stay claimed');
		assert.deepEqual(await store.jobs.claim(other, 10, HOUR), []);
	});

	test('a completed job is never claimed again; completing all jobs about one id leaves the others', async () => {
		const store = opened();
		const [kind, other] = [newId('job'), newId('job')];
		const [ref, otherRef] = [newId('document'), newId('document')];
		const [done, dropped, leased] = [job({ kind, ref }), job({ kind: other, ref }), job({ kind, ref })];
		const stays = job({ kind, ref: otherRef });
		await enqueue(store, [done, dropped, leased, stays]);
		await store.commit({ jobs: [{ op: 'complete', id: done.id }] });
		await store.commit({ jobs: [{ op: 'complete', id: done.id }] });
		await store.commit({ jobs: [{ op: 'complete_all', ref }] });
		assert.deepEqual(await store.jobs.claim(other, 10, HOUR), []);
		assert.deepEqual(
			(await store.jobs.claim(kind, 10, HOUR)).map(({ id }) => id),
			[stays.id],
		);
	});

	test('a job that is queued unless one is queued already is queued once for its kind and id', async () => {
		const store = opened();
		const [kind, other] = [newId('job'), newId('job')];
		const ref = newId('knowledge_base');
		const [first, second, third] = [job({ kind, ref }), job({ kind, ref }), job({ kind, ref })];
		const enqueueOnce = (one: Omit<Job, 'attempts'>) =>
			store.commit({ jobs: [{ op: 'enqueue', job: one, unless_queued: true }] });
		for (const one of [first, second, job({ kind: other, ref }), job({ kind })]) await enqueueOnce(one);
		const claimed = await store.jobs.claim(kind, 10, HOUR);
		assert.equal(claimed.length, 2, 'one for each id');
		assert.equal(claimed.filter(({ id }) => id === first.id).length, 1);
		assert.equal((await store.jobs.claim(other, 10, HOUR)).length, 1);
		await enqueueOnce(second);
		assert.deepEqual(await store.jobs.claim(kind, 10, HOUR), [], 'the claimed job counts');
		await store.commit({
			jobs: [
				{ op: 'complete', id: first.id },
				{ op: 'enqueue', job: third, unless_queued: true },
			],
		});
		assert.equal((await store.jobs.claim(kind, 10, HOUR))[0]?.id, third.id);
	});

	test('completes the jobs of one kind about an id without those of other kinds', async () => {
		const store = opened();
		const [kind, other] = [newId('job'), newId('job')];
		const ref = newId('knowledge_base');
		const stays = job({ kind: other, ref });
		await enqueue(store, [job({ kind, ref }), job({ kind, ref }), stays]);
		await store.commit({ jobs: [{ op: 'complete_all', ref, kind }] });
		assert.deepEqual(await store.jobs.claim(kind, 10, HOUR), []);
		assert.deepEqual(
			(await store.jobs.claim(other, 10, HOUR)).map(({ id }) => id),
			[stays.id],
		);
	});
}

/** A job that is due. */
export function job(given: Partial<Job> & { kind: string }): Omit<Job, 'attempts'> {
	return { id: newId('job'), ref: newId('document'), group: 'g', due_at: 0, ...given };
}

export async function enqueue(store: Store, jobs: Array<Omit<Job, 'attempts'>>): Promise<void> {
	const { outcome } = await store.commit({ jobs: jobs.map((one) => ({ op: 'enqueue', job: one })) });
	assert.equal(outcome, 'committed');
}
