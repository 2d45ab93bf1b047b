import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../src/base/index.ts';
import { chargeFor, mayCallForQuery } from '../../src/conversations/reply-cost.ts';
import { withinBudget, withNextCall } from '../../src/conversations/within-budget.ts';
import type { BudgetLimit } from '../../src/costs/index.ts';
import type { Store } from '../../src/store/index.ts';
import { conversation, message } from '../store/samples.ts';

const PRICE = { input: 1_000_000, output: 2_000_000, reserved_micros: 500 };
const NOW = Date.UTC(2026, 10, 20);

/** Budgets that count how often they are read. */
function countingBudgets() {
	let reads = 0;
	const limitsOf = async (): Promise<BudgetLimit[]> => {
		reads++;
		return [];
	};
	return { limitsOf, report: async () => {}, reads: () => reads };
}

function turnOf(billing: { price: typeof PRICE | null; reserved: { amount: number; day: number } | null }) {
	const record = { ...conversation(), version: 1 };
	const question = { ...message({ conversation_id: record.id }), version: 1 };
	const reply = {
		...message({ conversation_id: record.id, id: newId('message'), attempts: 1, usage: null }),
		version: 1,
	};
	return { conversation: record, question, reply, rounds: [], billing };
}

const used = (input_tokens: number, unreportedCalls = 0) => ({
	usage: { input_tokens, output_tokens: 0 },
	unreportedCalls: Array.from({ length: unreportedCalls }, () => null),
});

test('a reply without a price reads no budgets, and its rounds write nothing more', async () => {
	const budgets = countingBudgets();
	const spender = { workspace_id: 'ws', deployment_id: 'dep', visitor_id: null, model: 'any/model' };
	const unread = () => Promise.reject(new Error('It is not read.'));
	const store = { conversations: {} as Store['conversations'], get: unread };
	const deps = { store, budgets, models: { priceOf: () => null } };
	const model = await withinBudget(deps, spender, NOW, async (name) => name);
	assert.equal(model, 'any/model');
	for (const price of [null, PRICE]) {
		const round = { commit: {}, turn: turnOf({ price, reserved: null }) };
		assert.equal(await withNextCall({ budgets }, round, used(9_000)), round);
	}
	assert.equal(budgets.reads(), 0);
});

test('a round reserves what is missing for another call, and for each call whose usage is not known', async () => {
	const budgets = countingBudgets();
	const missing = async (amount: number, usage: ReturnType<typeof used>, attempts = 1) => {
		const turn = turnOf({ price: PRICE, reserved: { amount, day: NOW } });
		turn.reply.attempts = attempts;
		const { commit, turn: next } = await withNextCall({ budgets }, { commit: {}, turn }, usage);
		const [write] = commit.write ?? [];
		if (write === undefined) return 0;
		assert.ok(write.op === 'spending.extend');
		assert.deepEqual(next.billing.reserved, { amount: amount + write.amount, day: NOW });
		return write.amount;
	};
	assert.equal(await missing(500, used(0)), 0);
	assert.equal(await missing(500, used(120)), 120);
	assert.equal(await missing(620, used(120)), 0);
	assert.equal(await missing(500, used(120, 1)), 620);
	assert.equal(await missing(500, used(120), 2), 620, 'the call that a crash has cut off');
	assert.equal(budgets.reads(), 3);
});

test('a query is written only where its price is reserved, and not again after a crash', async () => {
	const mayCall = (amount: number | null, attempts = 1) => {
		const turn = turnOf({ price: PRICE, reserved: amount === null ? null : { amount, day: NOW } });
		turn.reply.attempts = attempts;
		return mayCallForQuery(turn);
	};
	assert.deepEqual([mayCall(null), mayCall(999), mayCall(1_000)], [true, false, true]);
	assert.deepEqual([mayCall(null, 2), mayCall(1_000, 2)], [true, false]);
	const given = turnOf({ price: PRICE, reserved: { amount: 1_000, day: NOW } });
	const cutOff = { usage: null, unreportedCalls: [null] };
	assert.equal(chargeFor(given, cutOff).added, 1_000, 'the call and the query of a reply that is not written again');
	const turn = turnOf({ price: PRICE, reserved: { amount: 1_500, day: NOW } });
	turn.reply.attempts = 2;
	assert.equal(chargeFor(turn, used(120)).added, 1_120, 'with the call and the query that a crash has cut off');
});
