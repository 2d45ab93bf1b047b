import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { Commit, CompleteReceipt, Store } from '../../../src/store/index.ts';
import { assistant, event } from '../samples.ts';

/** A repeat under a key gets the same response, and nothing is done twice. */
export function idempotencyContract(opened: () => Store): void {
	test('a repeat gets the stored response and writes nothing', async () => {
		const store = opened();
		const first = creation();
		assert.equal((await store.commit(first.commit)).outcome, 'committed');
		const repeat = creation({ ...first.answer, body_hash: 'another body', status: 400, body: 'no' });
		assert.deepEqual(await store.commit(repeat.commit), {
			outcome: 'replay',
			body_hash: first.answer.body_hash,
			status: 201,
			body: first.answer.body,
		});
		assert.equal(await store.get('assistants', repeat.id), undefined);
		assert.deepEqual(await store.events.after(repeat.id, 0, 10), []);
	});

	test('a repeat of a request whose response is pending gets the ids of the messages', async () => {
		const store = opened();
		const { answer } = creation();
		const { status: _, body: __, ...key } = answer;
		const pending = { conversation_id: newId('conversation'), question_id: newId('message'), reply_id: null };
		assert.equal((await store.commit({ idempotency: { ...key, pending } })).outcome, 'committed');
		assert.deepEqual(await store.commit({ idempotency: answer }), {
			outcome: 'replay',
			body_hash: key.body_hash,
			pending,
		});
		assert.deepEqual(await store.idempotency.storedResponse(key), { body_hash: key.body_hash, pending });
	});

	test('of two concurrent commits with one key, one is made and the other gets its response', async () => {
		const store = opened();
		const { answer } = creation();
		const pair = [creation(answer), creation({ ...answer, body: 'second' })];
		const ends = await Promise.all(pair.map(({ commit }) => store.commit(commit)));
		assert.deepEqual(
			ends.map(({ outcome }) => outcome),
			['committed', 'replay'],
		);
		assert.equal(ends[1]?.outcome === 'replay' && ends[1].body, answer.body);
		assert.equal(await store.get('assistants', pair[1]?.id ?? ''), undefined);
	});

	test('the same key in another scope, and another key in the same scope, are not repeats', async () => {
		const store = opened();
		const { answer, commit } = creation();
		await store.commit(commit);
		for (const other of [
			{ ...answer, scope: newId('workspace') },
			{ ...answer, key: 'another' },
		]) {
			assert.equal((await store.commit(creation(other).commit)).outcome, 'committed');
		}
	});

	test('a refused commit leaves its key unused', async () => {
		const store = opened();
		const { answer, commit } = creation();
		const expect = [{ kind: 'assistants' as const, id: newId('assistant'), version: 1 }];
		assert.equal((await store.commit({ ...commit, expect })).outcome, 'conflict');
		assert.equal((await store.commit(creation(answer).commit)).outcome, 'committed');
	});

	test('a repeat gets its response although the expected records have changed since', async () => {
		const store = opened();
		const { answer, commit } = creation();
		await store.commit(commit);
		const expect = [{ kind: 'assistants' as const, id: newId('assistant'), version: 1 }];
		assert.equal((await store.commit({ expect, idempotency: answer })).outcome, 'replay');
	});

	test('an expired key can be used again and then has the new response', async () => {
		const store = opened();
		const { answer } = creation();
		await store.commit({ idempotency: { ...answer, body: 'old', expires_at: Date.now() - 1 } });
		assert.equal((await store.commit({ idempotency: { ...answer, body: 'new' } })).outcome, 'committed');
		const repeat = await store.commit({ idempotency: answer });
		assert.equal(repeat.outcome === 'replay' && repeat.body, 'new');
	});
}

function creation(given?: CompleteReceipt): { id: string; commit: Commit; answer: CompleteReceipt } {
	const record = assistant();
	const answer = given ?? {
		scope: newId('workspace'),
		key: 'once',
		body_hash: 'hash of the body',
		status: 201,
		body: `{"id":"${record.id}"}`,
		expires_at: Date.now() + 60_000,
	};
	const write = [{ op: 'insert' as const, kind: 'assistants' as const, record }];
	return { id: record.id, answer, commit: { write, events: [event(record.id)], idempotency: answer } };
}
