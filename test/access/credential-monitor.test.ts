import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Caller, CredentialMonitor } from '../../src/access/index.ts';
import { createLog, systemClock } from '../../src/base/index.ts';
import { until } from '../support/until.ts';

const log = createLog('silent');
const settled = (): Promise<void> => new Promise(setImmediate);

function callerOf(credentialId: string): Caller {
	return { workspaceId: 'ws_1', credentialId, name: 'Backend', scopes: ['*'], expiresAt: null, userSession: null };
}

/** A monitor over credentials that are valid until they are removed. */
function setUp(...good: string[]) {
	const state = { good: new Set(good), failing: false, looks: 0 };
	const access = {
		async isCredentialValid({ credentialId }: Caller) {
			state.looks++;
			if (state.failing) throw new Error('the disk failed');
			return state.good.has(credentialId);
		},
	};
	return {
		state,
		watch: (recheckIntervalMs = 3_600_000) =>
			new CredentialMonitor({ access, clock: systemClock, log, recheckIntervalMs }),
	};
}

test('revokes the uses of an invalid credential, and no others', async () => {
	const { state, watch } = setUp('key_1', 'key_2');
	using watching = watch();
	const [one, two, other] = ['key_1', 'key_1', 'key_2'].map((id) =>
		watching.beginUse(callerOf(id), new AbortController().signal),
	);
	assert.equal(watching.size, 2);
	await watching.recheckAll();
	assert.equal(one?.signal.aborted, false);
	state.good.delete('key_1');
	await watching.recheckAll();
	assert.deepEqual(
		[one, two, other].map((use) => [use?.signal.aborted, use?.isRevoked]),
		[
			[true, true],
			[true, true],
			[false, false],
		],
	);
	assert.equal(watching.size, 1);
});

test('revokes a use at once whose credential ended before the use began', async () => {
	const { watch } = setUp();
	using watching = watch();
	const use = watching.beginUse(callerOf('key_1'), new AbortController().signal);
	await settled();
	assert.deepEqual([use.signal.aborted, use.isRevoked, watching.size], [true, true, 0]);
});

test('a use ends with its request, which is not a revocation', async () => {
	const { watch } = setUp('key_1');
	using watching = watch();
	const request = new AbortController();
	const left = watching.beginUse(callerOf('key_1'), request.signal);
	const done = watching.beginUse(callerOf('key_1'), new AbortController().signal);
	request.abort(new Error('gone'));
	assert.deepEqual([left.signal.aborted, left.isRevoked, left.signal.reason.message], [true, false, 'gone']);
	assert.equal(watching.size, 1);
	done.end();
	done.end();
	assert.deepEqual([done.signal.aborted, watching.size], [false, 0]);
	const late = watching.beginUse(callerOf('key_1'), request.signal);
	assert.deepEqual([late.signal.aborted, watching.size], [true, 0]);
});

test('a failed check revokes nothing', async () => {
	const { state, watch } = setUp('key_1');
	using watching = watch();
	const use = watching.beginUse(callerOf('key_1'), new AbortController().signal);
	state.failing = true;
	await watching.recheckAll();
	assert.equal(use.signal.aborted, false);
});

test('notices by itself that a credential has ended', async () => {
	const { state, watch } = setUp('key_1');
	using watching = watch(10);
	const use = watching.beginUse(callerOf('key_1'), new AbortController().signal);
	await settled();
	state.good.clear();
	await until('it is noticed', () => use.signal.aborted);
	assert.equal(use.isRevoked, true);
});
