import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Caller, CredentialMonitor } from '../../src/access/index.ts';
import { createLog, systemClock } from '../../src/base/index.ts';
import { TestRequest } from '../support/abortable-request.ts';
import { until } from '../support/until.ts';

const log = createLog('silent');
const settled = (): Promise<void> => new Promise(setImmediate);

function callerOf(credentialId: string): Caller {
	return { workspaceId: 'ws_1', credentialId, name: 'Backend', scopes: ['*'], expiresAt: null, userSession: null };
}

/** A monitor over credentials that are valid until they are removed. */
function setUp(...valid: string[]) {
	const state = { valid: new Set(valid), failing: false, checks: 0 };
	const access = {
		async validCredentials() {
			state.checks++;
			if (state.failing) throw new Error('the disk failed');
			return new Set(state.valid);
		},
	};
	return {
		state,
		createMonitor: (recheckIntervalMs = 3_600_000) =>
			new CredentialMonitor({ access, clock: systemClock, log, recheckIntervalMs }),
	};
}

test('revokes the uses of an invalid credential, and no others', async () => {
	const { state, createMonitor } = setUp('key_1', 'key_2');
	using monitor = createMonitor();
	const [one, two, other] = ['key_1', 'key_1', 'key_2'].map((id) => monitor.beginUse(callerOf(id), new TestRequest()));
	assert.equal(monitor.size, 2);
	await monitor.recheckAll();
	assert.equal(one?.signal.aborted, false);
	state.valid.delete('key_1');
	await monitor.recheckAll();
	assert.deepEqual(
		[one, two, other].map((use) => [use?.signal.aborted, use?.isRevoked]),
		[
			[true, true],
			[true, true],
			[false, false],
		],
	);
	assert.equal(monitor.size, 1);
});

test('revokes a use at once whose credential ended before the use began', async () => {
	const { createMonitor } = setUp();
	using monitor = createMonitor();
	const use = monitor.beginUse(callerOf('key_1'), new TestRequest());
	await settled();
	assert.deepEqual([use.signal.aborted, use.isRevoked, monitor.size], [true, true, 0]);
});

test('a use ends with its request, which is not a revocation', async () => {
	const { createMonitor } = setUp('key_1');
	using monitor = createMonitor();
	const request = new TestRequest();
	const left = monitor.beginUse(callerOf('key_1'), request);
	const done = monitor.beginUse(callerOf('key_1'), new TestRequest());
	request.abort(new Error('gone'));
	assert.deepEqual([left.signal.aborted, left.isRevoked, left.signal.reason.message], [true, false, 'gone']);
	assert.equal(monitor.size, 1);
	done.end();
	done.end();
	assert.deepEqual([done.signal.aborted, monitor.size], [false, 0]);
	const late = monitor.beginUse(callerOf('key_1'), request);
	assert.deepEqual([late.signal.aborted, monitor.size], [true, 0]);
});

test('a failed check revokes nothing', async () => {
	const { state, createMonitor } = setUp('key_1');
	using monitor = createMonitor();
	const use = monitor.beginUse(callerOf('key_1'), new TestRequest());
	state.failing = true;
	await monitor.recheckAll();
	assert.equal(use.signal.aborted, false);
});

test('notices by itself that a credential has ended', async () => {
	const { state, createMonitor } = setUp('key_1');
	using monitor = createMonitor(10);
	const use = monitor.beginUse(callerOf('key_1'), new TestRequest());
	await settled();
	state.valid.clear();
	await until('it is noticed', () => use.signal.aborted);
	assert.equal(use.isRevoked, true);
});

test('a credential is checked twice, however many of its uses begin together', async () => {
	const { state, createMonitor } = setUp('key_1');
	using monitor = createMonitor();
	const begin = () => monitor.beginUse(callerOf('key_1'), new TestRequest());
	const uses = Array.from({ length: 100 }, begin);
	assert.equal(state.checks, 1);
	await settled();
	assert.ok(uses.every(({ isEnded }) => !isEnded));
	assert.equal(state.checks, 2);
});

test('a use that begins just after a revocation is ended before it can send anything', async () => {
	const { state, createMonitor } = setUp('key_1');
	using monitor = createMonitor();
	const begin = () => monitor.beginUse(callerOf('key_1'), new TestRequest());
	// It ends before the revocation, which finds no use to revoke.
	begin().end();
	state.valid.clear();
	await monitor.recheckAll();
	for (const at of ['first', 'second']) {
		const use = begin();
		await Promise.resolve();
		assert.ok(use.isRevoked, `the ${at}`);
	}
});

test('a use ends whose credential was revoked between the check of another use and its own beginning', async () => {
	const { state, createMonitor } = setUp('key_1');
	using monitor = createMonitor();
	const begin = () => monitor.beginUse(callerOf('key_1'), new TestRequest());
	const first = begin();
	await Promise.resolve();
	// By another process: nothing tells the monitor.
	state.valid.clear();
	const second = begin();
	await settled();
	assert.deepEqual([first.isRevoked, second.isRevoked], [true, true]);
});

test('a use that begins just after a failed check is checked again', async () => {
	const { state, createMonitor } = setUp();
	using monitor = createMonitor();
	state.failing = true;
	const first = monitor.beginUse(callerOf('key_1'), new TestRequest());
	await Promise.resolve();
	await Promise.resolve();
	state.failing = false;
	const second = monitor.beginUse(callerOf('key_1'), new TestRequest());
	await settled();
	assert.deepEqual([first.isRevoked, second.isRevoked], [true, true]);
});

test('checks thousands of credentials in use with a few reads', async () => {
	const ids = Array.from({ length: 3_000 }, (_, at) => `key_${at}`);
	const { state, createMonitor } = setUp(...ids);
	using monitor = createMonitor();
	const uses = ids.map((id) => monitor.beginUse(callerOf(id), new TestRequest()));
	await settled();
	state.checks = 0;
	state.valid.delete('key_2999');
	await monitor.recheckAll();
	assert.ok(state.checks <= 10, `${state.checks} reads`);
	assert.deepEqual([uses[0]?.isRevoked, uses[2_999]?.isRevoked], [false, true]);
});
