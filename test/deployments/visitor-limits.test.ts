import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/index.ts';
import { VisitorLimits } from '../../src/deployments/visitor-limits.ts';

function limitsAt() {
	const clock = { at: Date.UTC(2026, 10, 20), now: () => clock.at };
	return { clock, limits: new VisitorLimits(clock) };
}

/** The seconds that a call was told to wait; 0 where it was let through. */
function waitOf(count: () => void): number {
	try {
		count();
		return 0;
	} catch (error) {
		assert.ok(error instanceof AppError, String(error));
		assert.deepEqual([error.code, error.status], ['rate_limit_exceeded', 429]);
		assert.ok(error.retry_after);
		assert.ok(error.message.includes(String(error.retry_after)), error.message);
		return error.retry_after;
	}
}

test('a visitor sends as many messages a minute as the deployment allows, then is told how long to wait', () => {
	const { clock, limits } = limitsAt();
	for (let sent = 0; sent < 3; sent++)
		assert.equal(
			waitOf(() => limits.countMessage('dep_a', '192.0.2.1', 3)),
			0,
		);
	assert.equal(
		waitOf(() => limits.countMessage('dep_a', '192.0.2.1', 3)),
		60,
	);
	clock.at += 60_000;
	assert.equal(
		waitOf(() => limits.countMessage('dep_a', '192.0.2.1', 3)),
		0,
	);
});

test('visitors and deployments do not use up one another’s messages', () => {
	const { limits } = limitsAt();
	for (const [deployment, visitor] of [
		['dep_a', '192.0.2.1'],
		['dep_a', '192.0.2.2'],
		['dep_b', '192.0.2.1'],
	] as const) {
		assert.equal(
			waitOf(() => limits.countMessage(deployment, visitor, 1)),
			0,
		);
		assert.equal(
			waitOf(() => limits.countMessage(deployment, visitor, 1)),
			60,
		);
	}
});

test('the configuration is read up to 600 times a minute and address, apart from messages', () => {
	const { clock, limits } = limitsAt();
	for (let read = 0; read < 600; read++)
		assert.equal(
			waitOf(() => limits.countConfig('dep_a', '192.0.2.1')),
			0,
		);
	assert.equal(
		waitOf(() => limits.countConfig('dep_a', '192.0.2.1')),
		60,
	);
	assert.equal(
		waitOf(() => limits.countConfig('dep_a', '192.0.2.2')),
		0,
	);
	assert.equal(
		waitOf(() => limits.countMessage('dep_a', '192.0.2.1', 1)),
		0,
	);
	clock.at += 60_000;
	assert.equal(
		waitOf(() => limits.countConfig('dep_a', '192.0.2.1')),
		0,
	);
});
