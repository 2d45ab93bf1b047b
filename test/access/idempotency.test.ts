import assert from 'node:assert/strict';
import test from 'node:test';
import { Idempotency, type IdempotencyClaim } from '../../src/access/index.ts';
import { AppError, ClockJumpDetector, deferred, newId, systemClock } from '../../src/base/index.ts';
import { conversation } from '../store/samples.ts';
import { openTemporaryStore } from '../support/temporary-store.ts';

const store = await openTemporaryStore();
const idempotency = new Idempotency({ store, jumpDetector: new ClockJumpDetector(systemClock) });
const freshKey = () => ({ scope: newId('workspace'), key: 'once', fingerprint: 'the same' });
const identityOf = ({ scope, key, fingerprint }: ReturnType<typeof freshKey>) => ({
	scope,
	key,
	body_hash: fingerprint,
});
const signal = new AbortController().signal;
const noRepeat = { replay: () => assert.fail('it was not answered before') };

/** The claim of a request in flight. */
async function claimOf(key: ReturnType<typeof freshKey>): Promise<IdempotencyClaim> {
	return idempotency.run<IdempotencyClaim>(key, { execute: async (claim) => claim, ...noRepeat }, signal);
}

test('does not store a response whose conversation was erased before', async () => {
	const key = freshKey();
	const record = conversation();
	await store.commit({ write: [{ op: 'insert', kind: 'conversations', record }] });
	const claim = await claimOf(key);
	await store.commit({ write: [{ op: 'erase_conversation', id: record.id }] });
	await idempotency.storeReceipt(claim.receipt({ status: 200, body: 'what was said', subject: record.id }));
	assert.equal(await store.idempotency.storedResponse(identityOf(key)), undefined);
});

test('stores a response whose conversation changes continuously', async () => {
	const key = freshKey();
	const record = conversation();
	await store.commit({ write: [{ op: 'insert', kind: 'conversations', record }] });
	const claim = await claimOf(key);
	const changes = Array.from({ length: 5 }, (_, index) =>
		store.commit({ write: [{ op: 'patch', kind: 'conversations', id: record.id, set: { title: `Title ${index}` } }] }),
	);
	const remembering = idempotency.storeReceipt(claim.receipt({ status: 200, body: 'kept', subject: record.id }));
	await Promise.all([...changes, remembering]);
	assert.equal((await store.idempotency.storedResponse(identityOf(key)))?.body, 'kept');
});

test('a repeat whose client has gone stops waiting for the first request and is not executed', async () => {
	const key = freshKey();
	const first = deferred<string>();
	const running = idempotency.run(key, { execute: () => first.promise, ...noRepeat }, signal);
	const leaving = new AbortController();
	const repeat = idempotency.run(key, { execute: () => assert.fail('twice'), ...noRepeat }, leaving.signal);
	leaving.abort();
	await assert.rejects(repeat, (error) => error instanceof AppError && error.code === 'unavailable');
	first.resolve('answered');
	assert.equal(await running, 'answered');
});
