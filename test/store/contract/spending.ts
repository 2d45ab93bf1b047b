import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import {
	type CommitOutcome,
	type ErasureCounts,
	NOTHING_ERASED,
	type Spender,
	type SpendingLimit,
	type Store,
	type Write,
} from '../../../src/store/index.ts';
import { budgetNotice, conversation, erasure, message } from '../samples.ts';

const DAY = 86_400_000;
const TODAY = Date.UTC(2026, 10, 20);

/** As an earlier version stored them. */
function countsWithoutCosts(): ErasureCounts {
	const { cost_rows: _, ...counts } = NOTHING_ERASED;
	return counts as ErasureCounts;
}

/**
 * The sums of what was spent, and reservations, which cannot exceed a limit together.
 * @param afterEnd performs something while the process that has reserved counts as ended
 */
export function spendingContract(
	opened: () => Store,
	afterEnd = (perform: () => Promise<unknown>): Promise<unknown> => perform(),
): void {
	/** A spender of a workspace of its own. */
	const spenderOf = (): Spender => {
		const deployment_id = newId('deployment');
		return { workspace_id: newId('workspace'), deployment_id, visitor_id: `${deployment_id}:v`, model: 'openai/a' };
	};
	const reserve = (spender: Spender, amount: number, limits: SpendingLimit[] = [], message_id = newId('message')) => ({
		message_id,
		write: {
			...{ op: 'spending.reserve', message_id, conversation_id: `conv_of_${message_id}`, spender, amount, limits },
			day: TODAY,
		} satisfies Write as Write,
	});
	const settle = (message_id: string, cost: number): Write => ({ op: 'spending.settle', message_id, cost });
	const spend = (spender: Spender, cost: number, day = TODAY): Write => {
		return { op: 'spending.settle', message_id: newId('message'), cost, unreserved: { spender, day } };
	};
	const commit = async (...write: Write[]): Promise<CommitOutcome['outcome']> =>
		(await opened().commit({ write })).outcome;
	const sumsOf = async ({ workspace_id }: Spender) => {
		const { spent, reserved } = await opened().spending.sumsOf(workspace_id, 'workspace', workspace_id, 0, TODAY);
		return [spent, reserved];
	};
	const monthly = (amount: number): SpendingLimit => {
		return { dimension: 'workspace', amount, from: TODAY - 19 * DAY, to: TODAY + 10 * DAY };
	};

	test('adds a cost to the workspace, the deployment, the visitor and the model, by day', async () => {
		const store = opened();
		const spender = spenderOf();
		const { workspace_id, deployment_id, visitor_id } = spender;
		await commit(spend(spender, 5), spend(spender, 7, TODAY - DAY), spend({ ...spender, visitor_id: null }, 30));
		const range = { workspaceId: workspace_id, from: TODAY - DAY, to: TODAY, limit: 10 };
		assert.deepEqual(await store.spending.list({ ...range, groupBy: 'day' }), [
			{ key: String(TODAY), spent: 35, reserved: 0 },
			{ key: String(TODAY - DAY), spent: 7, reserved: 0 },
		]);
		const sums = async (groupBy: 'deployment' | 'visitor' | 'model', more = {}) =>
			(await store.spending.list({ ...range, groupBy, ...more })).map(({ key, spent }) => [key, spent]);
		assert.deepEqual(await sums('deployment'), [[deployment_id, 42]]);
		assert.deepEqual(await sums('visitor'), [[visitor_id, 12]]);
		assert.deepEqual(await sums('model'), [['openai/a', 42]]);
		assert.deepEqual(await sums('model', { to: TODAY - DAY }), [['openai/a', 7]]);
	});

	test('lists the accounts with the highest costs first, page by page, also of one deployment', async () => {
		const store = opened();
		const spender = spenderOf();
		const other = { ...spender, deployment_id: newId('deployment'), visitor_id: null };
		const visitor = (n: number) => ({ ...spender, visitor_id: `${spender.deployment_id}:${n}`, model: `openai/${n}` });
		await commit(...[1, 3, 2, 3].map((cost, n) => spend(visitor(n), cost)), spend({ ...other, model: 'openai/1' }, 9));
		const keys = async (groupBy: 'visitor' | 'model', more: object) => {
			const query = { workspaceId: spender.workspace_id, from: TODAY, to: TODAY, limit: 2, groupBy, ...more };
			return (await store.spending.list(query)).map(({ key, spent }) => `${key.split(':').at(-1)}=${spent}`);
		};
		assert.deepEqual(await keys('visitor', {}), ['3=3', '1=3']);
		const after = { spent: 3, key: `${spender.deployment_id}:1` };
		assert.deepEqual(await keys('visitor', { after }), ['2=2', '0=1']);
		assert.deepEqual(await keys('model', {}), ['openai/1=12', 'openai/3=3']);
		const { deployment_id: deploymentId } = spender;
		assert.deepEqual(await keys('model', { deploymentId, limit: 9 }), [
			'openai/3=3',
			'openai/1=3',
			'openai/2=2',
			'openai/0=1',
		]);
	});

	test('of many reservations at once only those within the limit are made', async () => {
		const spender = spenderOf();
		const outcomes = await Promise.all(
			Array.from({ length: 50 }, () => commit(reserve(spender, 10, [monthly(39)]).write)),
		);
		assert.equal(outcomes.filter((outcome) => outcome === 'committed').length, 3);
		assert.equal(outcomes.filter((outcome) => outcome === 'over_budget').length, 47);
		assert.deepEqual(await sumsOf(spender), [0, 30]);
	});

	test('a refused reservation names the accounts, and nothing of its commit is written', async () => {
		const spender = spenderOf();
		const record = conversation();
		const own: SpendingLimit = { dimension: 'visitor', amount: 5, from: TODAY, to: TODAY };
		const { write } = reserve(spender, 6, [monthly(6), own]);
		const outcome = await opened().commit({ write: [{ op: 'insert', kind: 'conversations', record }, write] });
		assert.deepEqual(outcome, { outcome: 'over_budget', exceeded: ['visitor'] });
		assert.equal(await opened().get('conversations', record.id), undefined);
		assert.deepEqual(await sumsOf(spender), [0, 0]);
	});

	test('a limit counts the days of its period only', async () => {
		const spender = spenderOf();
		await commit(spend(spender, 100, TODAY - DAY));
		const today: SpendingLimit = { dimension: 'workspace', amount: 10, from: TODAY, to: TODAY };
		assert.equal(await commit(reserve(spender, 10, [today]).write), 'committed');
		assert.equal(await commit(reserve(spender, 1, [monthly(110)]).write), 'over_budget');
	});

	test('a reservation is settled once, on its own day', async () => {
		const store = opened();
		const spender = spenderOf();
		const { message_id, write } = reserve(spender, 10);
		await commit(write);
		assert.deepEqual(await store.spending.reservedFor(message_id), { amount: 10, day: TODAY });
		await commit(settle(message_id, 4));
		await commit(settle(message_id, 4));
		assert.deepEqual(await sumsOf(spender), [4, 0]);
		assert.equal(await store.spending.reservedFor(message_id), null);
	});

	test('a reservation is extended within the limits, and settled as one', async () => {
		const spender = spenderOf();
		const { message_id, write } = reserve(spender, 10);
		const extend = (amount: number, limits = [monthly(30)]): Write => {
			return { op: 'spending.extend', message_id, amount, limits };
		};
		await commit(write, spend(spender, 5));
		const outcomes = await Promise.all([commit(extend(8)), commit(extend(8)), commit(extend(8, []))]);
		assert.deepEqual(outcomes, ['committed', 'over_budget', 'committed']);
		assert.deepEqual(await opened().spending.reservedFor(message_id), { amount: 26, day: TODAY });
		assert.deepEqual(await sumsOf(spender), [5, 26]);
		await commit(settle(message_id, 20));
		assert.equal(await commit(extend(8)), 'committed');
		assert.deepEqual(await sumsOf(spender), [25, 0]);
	});

	test('sums do not grow beyond the largest safe integer', async () => {
		const MAX = Number.MAX_SAFE_INTEGER;
		const spender = spenderOf();
		const { message_id, write } = reserve(spender, MAX - 1);
		await commit(write, { op: 'spending.extend', message_id, amount: 5, limits: [] }, spend(spender, MAX - 1));
		assert.deepEqual(await opened().spending.reservedFor(message_id), { amount: MAX, day: TODAY });
		assert.equal(await commit(reserve(spender, 1, [monthly(MAX)]).write), 'over_budget');
		await commit(settle(message_id, 5), reserve(spender, 2).write);
		assert.deepEqual(await sumsOf(spender), [MAX, 2]);
	});

	test('the erasure of a conversation settles its reservation as it was reserved', async () => {
		const spender = spenderOf();
		const { message_id, write } = reserve(spender, 10);
		await commit(write);
		await commit({ op: 'erase_conversation', id: `conv_of_${message_id}` });
		await commit(settle(message_id, 4));
		assert.deepEqual(await sumsOf(spender), [10, 0]);
	});

	test('reservations without a reply that is being written are settled as they were reserved', async () => {
		const spender = spenderOf();
		const running = message({ status: 'in_progress', conversation_id: newId('conversation') });
		const [kept, left] = [reserve(spender, 10, [], running.id), reserve(spender, 3)];
		await commit({ op: 'insert', kind: 'messages', record: running }, kept.write, left.write);
		await afterEnd(() => commit({ op: 'spending.settle_abandoned' }));
		assert.deepEqual(await sumsOf(spender), [3, 10]);
		assert.equal(await opened().spending.hasReservations(), true);
		await commit(settle(running.id, 0), { op: 'remove', kind: 'messages', id: running.id });
	});

	test('the sums of a visitor outlive the conversations, and end with the erasure of the person, those of the others stay', async () => {
		const store = opened();
		const spender = spenderOf();
		const { workspace_id, visitor_id } = spender;
		const talks = [1, 2].map(() => conversation({ workspace_id, visitor_id }));
		const notice = budgetNotice({ workspace_id, account: visitor_id as string });
		const person = erasure({ workspace_id, end_user_id: newId('erasure') });
		await commit(
			...talks.map((record): Write => ({ op: 'insert', kind: 'conversations', record })),
			{ op: 'insert', kind: 'budget_notices', record: notice },
			{ op: 'insert', kind: 'erasures', record: person },
			spend(spender, 8),
		);
		const erase = () =>
			commit({
				...{ op: 'spending.erase_visitors', erasure_id: person.id, workspace_id },
				visitor_ids: [`${visitor_id}2`, visitor_id as string],
			});
		const ofVisitor = async () => {
			const { spent } = await store.spending.sumsOf(workspace_id, 'visitor', visitor_id as string, 0, TODAY);
			return [spent, (await store.get('budget_notices', notice.id)) !== undefined];
		};
		await commit({ op: 'erase_conversation', id: talks[0]?.id as string });
		await erase();
		assert.deepEqual(await ofVisitor(), [8, true]);
		await commit({ op: 'erase_conversation', id: talks[1]?.id as string });
		assert.deepEqual(await ofVisitor(), [8, true]);
		await erase();
		assert.deepEqual(await ofVisitor(), [0, false]);
		assert.deepEqual(await sumsOf(spender), [8, 0]);
		assert.equal((await store.get('erasures', person.id))?.counts.cost_rows, 2);
	});

	test('counts the reservation and the sums that go with the last conversation of an erased person', async () => {
		const store = opened();
		const spender = spenderOf();
		const { workspace_id, deployment_id, visitor_id } = spender;
		const person = erasure({ workspace_id, end_user_id: newId('erasure'), counts: countsWithoutCosts() });
		const { end_user_id } = person;
		const record = conversation({ workspace_id, deployment_id, visitor_id, end_user_id });
		const { write } = reserve(spender, 10);
		assert.equal(write.op, 'spending.reserve');
		await commit(
			{ op: 'insert', kind: 'erasures', record: person },
			{ op: 'insert', kind: 'conversations', record },
			{ ...write, conversation_id: record.id } as Write,
			spend(spender, 7, TODAY - DAY),
		);
		await commit({ op: 'erase_conversation', id: record.id });
		const { counts } = (await store.get('erasures', person.id)) ?? assert.fail();
		assert.deepEqual([counts.conversations, counts.cost_rows], [1, 3]);
		assert.deepEqual(await sumsOf(spender), [17, 0]);
	});

	test('reads the sums of a visitor by day', async () => {
		const spender = spenderOf();
		const { workspace_id, visitor_id } = spender as Spender & { visitor_id: string };
		await commit(spend(spender, 5, TODAY - DAY), spend(spender, 7), reserve(spender, 10).write);
		await commit(spend({ ...spender, visitor_id: `${visitor_id}2` }, 30));
		const found = await opened().endUsers.costsOf(workspace_id, visitor_id);
		assert.deepEqual(
			found.map((sum) => ({ ...sum })),
			[
				{ day: TODAY - DAY, spent: 5, reserved: 0 },
				{ day: TODAY, spent: 7, reserved: 10 },
			],
		);
		assert.deepEqual(await opened().endUsers.costsOf(newId('workspace'), visitor_id), []);
	});

	test('the events about the budget of a visitor are erased with the person, and none is stored after the last conversation', async () => {
		const store = opened();
		const { workspace_id, visitor_id } = spenderOf() as Spender & { visitor_id: string };
		const record = conversation({ workspace_id, visitor_id });
		await commit({ op: 'insert', kind: 'conversations', record });
		const tell = async (subject: string) => {
			const id = newId('event');
			const event = { id, stream: workspace_id, type: 'budget.reached', data: {}, subject, created_at: TODAY };
			const write: Write[] = [{ op: 'spending.require_visitor', visitor_id: subject }];
			return (await store.commit({ write, events: [event] })).outcome;
		};
		assert.deepEqual([await tell(visitor_id), await tell(`${visitor_id}2`)], ['committed', 'conflict']);
		const stored = async () => (await store.endUsers.eventsAbout(visitor_id, 0, 9)).length;
		assert.equal(await stored(), 1);
		await commit({ op: 'erase_conversation', id: record.id });
		assert.equal(await tell(visitor_id), 'conflict');
		assert.equal(await stored(), 1);
		const person = erasure({ workspace_id, end_user_id: newId('erasure') });
		await commit(
			{ op: 'insert', kind: 'erasures', record: person },
			{ op: 'spending.erase_visitors', erasure_id: person.id, workspace_id, visitor_ids: [visitor_id] },
		);
		assert.equal(await stored(), 0);
		assert.equal((await store.get('erasures', person.id))?.counts.events, 1);
	});

	test('the sums of visitors are erased after 62 days, the others after 25 months', async () => {
		const store = opened();
		const spender = spenderOf();
		await commit(spend(spender, 8));
		const left = async (daysLater: number) => {
			await commit({ op: 'erase_expired', before: TODAY + daysLater * DAY, limit: 100 });
			const sums = (['visitor', 'deployment', 'model'] as const).map((groupBy) =>
				store.spending.list({ workspaceId: spender.workspace_id, groupBy, from: 0, to: TODAY, limit: 9 }),
			);
			return (await Promise.all(sums)).map(({ length }) => length);
		};
		assert.deepEqual(await left(62), [1, 1, 1]);
		assert.equal(await store.access.hasExpiredRecords(TODAY + 63 * DAY), true);
		assert.deepEqual(await left(63), [0, 1, 1]);
		assert.deepEqual(await left(762), [0, 1, 1]);
		assert.deepEqual(await left(763), [0, 0, 0]);
	});

	test('a record that must not exist is inserted once', async () => {
		const record = budgetNotice();
		const insert = () =>
			opened().commit({
				expect: [{ kind: 'budget_notices', id: record.id, version: 0 }],
				write: [{ op: 'insert', kind: 'budget_notices', record }],
			});
		assert.deepEqual(
			(await Promise.all([insert(), insert()])).map(({ outcome }) => outcome),
			['committed', 'conflict'],
		);
	});
}
