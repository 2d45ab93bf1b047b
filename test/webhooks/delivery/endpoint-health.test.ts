import assert from 'node:assert/strict';
import test from 'node:test';
import { EndpointHealth } from '../../../src/webhooks/delivery/endpoint-health.ts';

const state = ({ status, concurrencyLimit, isProbing }: EndpointHealth) =>
	`${status} ${concurrencyLimit}${isProbing ? ' probed' : ''}`;
/** An attempt that is begun now, alone. */
const attempt = (health: EndpointHealth, delivered: boolean, duration_ms = 20) =>
	health.record({ delivered, duration_ms }, health.failures);

function unknown(failing: boolean): EndpointHealth {
	const health = new EndpointHealth();
	assert.equal(health.isKnown, false);
	health.restore(failing);
	assert.equal(health.isKnown, true);
	return health;
}

test('an endpoint is healthy until three failures in a row, and again after one success', () => {
	const health = unknown(false);
	const seen = [state(health)];
	for (const delivered of [false, false, false, false, true]) {
		attempt(health, delivered);
		seen.push(state(health));
	}
	assert.deepEqual(seen, [
		'healthy 10',
		'healthy 2',
		'healthy 2',
		'degraded 2 probed',
		'degraded 2 probed',
		'healthy 10',
	]);
});

test('an endpoint whose last attempt before the start failed is degraded', () => {
	assert.equal(state(unknown(true)), 'degraded 2 probed');
});

test('a slow endpoint is degraded, whatever it responds', () => {
	const health = unknown(false);
	attempt(health, true, 2_000);
	assert.equal(state(health), 'healthy 10');
	attempt(health, true, 2_001);
	assert.equal(state(health), 'degraded 10');
	attempt(health, false, 5_000);
	assert.equal(state(health), 'degraded 2');
	attempt(health, true);
	assert.equal(state(health), 'healthy 10');
});

test('concurrent attempts that fail count as one failure', () => {
	const health = unknown(false);
	for (let count = 0; count < 10; count++) health.record({ delivered: false, duration_ms: 1 }, 0);
	assert.equal(health.failures, 1);
	for (let count = 0; count < 2; count++) health.record({ delivered: false, duration_ms: 1 }, 1);
	assert.equal(health.failures, 2);
	// An attempt that started before others succeeded.
	attempt(health, true);
	health.record({ delivered: false, duration_ms: 1 }, 2);
	assert.equal(health.failures, 1);
});

test('the pause after a failed probe starts at one second and doubles up to a minute', () => {
	const health = unknown(true);
	const pauses = Array.from({ length: 8 }, () => {
		const { probeDelayMs } = health;
		attempt(health, false);
		return probeDelayMs / 1_000;
	});
	assert.deepEqual(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
	for (let count = 0; count < 5_000; count++) attempt(health, false);
	assert.equal(health.probeDelayMs, 60_000);
});

test('an endpoint that is enabled or gets another URL is healthy without a database query', () => {
	for (const health of [new EndpointHealth(), unknown(true)]) {
		attempt(health, false, 5_000);
		health.reset();
		assert.deepEqual([health.isKnown, state(health)], [true, 'healthy 10']);
	}
});
