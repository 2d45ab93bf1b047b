import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '../../src/base/index.ts';
import {
	aroundCommit,
	type Commit,
	expectVersion,
	IdempotentReplayError,
	prepareChange,
	type Store,
	type UncommittedChange,
} from '../../src/store/index.ts';
import { openTemporaryStore } from '../support/temporary-store.ts';
import { withOverrides } from './overrides.ts';
import { assistant } from './samples.ts';

const store = await openTemporaryStore();

/** The receipt of a new request. */
function freshReceipt() {
	const key = { scope: newId('workspace'), key: 'once', body_hash: 'hash', expires_at: Date.now() + 60_000 };
	return {
		of: (name: string) => ({ ...key, status: 200, body: name }),
		added: (name: string) => ({ idempotency: { ...key, status: 200, body: name } }),
		stored: () => store.idempotency.storedResponse(key),
	};
}

async function addAssistant(name: string): Promise<string> {
	const record = assistant({ name });
	await store.commit({ write: [{ op: 'insert', kind: 'assistants', record }] });
	return record.id;
}

const nameOf = async (id: string) => (await store.get('assistants', id))?.name;

/** Appends a letter to an assistant's name. The result is the new name. */
function append(letter: string, id: string, to: Pick<Store, 'commit'> = store): UncommittedChange<string> {
	return prepareChange(to, async () => {
		const record = (await store.get('assistants', id)) ?? assert.fail(id);
		const name = record.name + letter;
		return {
			commit: {
				expect: [expectVersion('assistants', record)],
				write: [{ op: 'patch', kind: 'assistants', id, set: { name } }],
			},
			result: name,
		};
	});
}

test('a change decides and stores nothing before its commit', async () => {
	let decisions = 0;
	const record = assistant();
	const change = prepareChange(store, async () => {
		decisions++;
		return { commit: { write: [{ op: 'insert', kind: 'assistants', record }] }, result: record.id };
	});
	await store.commit({});
	assert.equal(decisions, 0);
	assert.equal(await store.get('assistants', record.id), undefined);
	assert.equal(await change.commit(), record.id);
	assert.equal(decisions, 1);
	assert.ok(await store.get('assistants', record.id));
});

test('a change that is awaited without its commit is a compile error', async () => {
	const id = await addAssistant('a');
	// @ts-expect-error: a change is not awaitable.
	const change = await append('b', id);
	assert.equal(await nameOf(id), 'a');
	assert.equal(await change.commit(), 'ab');
});

test('stores the receipt in the transaction of the change', async () => {
	const id = await addAssistant('a');
	const receipt = freshReceipt();
	const commits: Commit[] = [];
	const observed = withOverrides(store, {
		async commit(commit: Commit) {
			commits.push(commit);
			return store.commit(commit);
		},
	});
	assert.equal(await append('b', id, observed).commit(receipt.added), 'ab');
	assert.deepEqual(
		commits.map(({ write, idempotency }) => [write?.length, idempotency]),
		[[1, receipt.of('ab')]],
	);
	assert.equal((await receipt.stored())?.body, 'ab');
});

test('of concurrent changes, each receipt has the result of the decision that was committed', async () => {
	const id = await addAssistant('');
	const receipts = [...'abcdefgh'].map((letter) => ({ letter, receipt: freshReceipt() }));
	const results = await Promise.all(receipts.map(({ letter, receipt }) => append(letter, id).commit(receipt.added)));
	assert.deepEqual(
		results.map((name) => name.length).toSorted(),
		receipts.map((_, at) => at + 1),
	);
	const bodies = await Promise.all(receipts.map(async ({ receipt }) => (await receipt.stored())?.body));
	assert.deepEqual(bodies, results);
});

test('a change that is refused stores neither itself nor its receipt', async () => {
	const id = await addAssistant('a');
	const receipt = freshReceipt();
	const failing = withOverrides(store, { commit: async () => ({ outcome: 'fenced' as const }) });
	await assert.rejects(append('b', id, failing).commit(receipt.added), { code: 'unavailable' });
	assert.equal(await nameOf(id), 'a');
	assert.equal(await receipt.stored(), undefined);
});

test('a decision that changes nothing stores no receipt', async () => {
	const receipt = freshReceipt();
	const change = prepareChange(store, async () => ({ commit: null, result: 'the same' }));
	assert.equal(await change.commit(receipt.added), 'the same');
	assert.equal(await receipt.stored(), undefined);
});

test('a change whose receipt is stored already is not made again', async () => {
	const id = await addAssistant('a');
	const receipt = freshReceipt();
	await append('b', id).commit(receipt.added);
	await assert.rejects(
		append('c', id).commit(receipt.added),
		(error) => error instanceof IdempotentReplayError && error.storedResponse.body === 'ab',
	);
	assert.equal(await nameOf(id), 'ab');
});

test('steps around a commit get the result and pass on the receipt', async () => {
	const id = await addAssistant('a');
	const receipt = freshReceipt();
	const steps: unknown[] = [];
	const change = aroundCommit(append('b', id), async (commit) => {
		steps.push(await nameOf(id));
		const name = await commit();
		steps.push(name, await nameOf(id));
		return name;
	});
	assert.deepEqual(steps, []);
	assert.equal(await change.commit(receipt.added), 'ab');
	assert.deepEqual(steps, ['a', 'ab', 'ab']);
	assert.equal((await receipt.stored())?.body, 'ab');
});
