import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CallPermission, CircuitBreaker, type CircuitState } from '../../src/models/providers/circuit-breaker.ts';
import { HandClock } from './fixtures/hand-clock.ts';

function enter(breaker: CircuitBreaker): CallPermission {
	const permit = breaker.tryAcquirePermission();
	assert.ok(permit, 'nobody may call');
	return permit;
}

/** A breaker that has just opened. */
function opened(): { breaker: CircuitBreaker; clock: HandClock; states: CircuitState[] } {
	const clock = new HandClock();
	const states: CircuitState[] = [];
	const breaker = new CircuitBreaker(clock, (state) => states.push(state));
	for (let at = 0; at < 5; at++) enter(breaker).failed();
	return { breaker, clock, states };
}

test('opens the circuit for ten seconds after five consecutive failures', () => {
	const { breaker, clock, states } = opened();
	assert.equal(breaker.tryAcquirePermission(), null);
	clock.ms += 9_999;
	assert.equal(breaker.tryAcquirePermission(), null);
	clock.ms += 1;
	enter(breaker);
	assert.deepEqual(states, ['open', 'half-open']);
});

test('keeps the circuit closed if a call succeeds between failures', () => {
	const breaker = new CircuitBreaker(new HandClock());
	for (let at = 0; at < 100; at++) {
		for (let failure = 0; failure < 4; failure++) enter(breaker).failed();
		enter(breaker).succeeded();
	}
	assert.equal(breaker.state, 'closed');
});

test('permits one trial call after the open time, and all calls after its success', () => {
	const { breaker, clock } = opened();
	clock.ms += 10_000;
	const probe = enter(breaker);
	assert.equal(breaker.tryAcquirePermission(), null);
	probe.succeeded();
	assert.equal(breaker.state, 'closed');
	for (let at = 0; at < 4; at++) enter(breaker).failed();
	assert.equal(breaker.state, 'closed', 'failures are counted from the beginning');
});

test('opens the circuit for twice as long after a failed trial call, two minutes at most', () => {
	const { breaker, clock } = opened();
	let wait = 10_000;
	for (const next of [20_000, 40_000, 80_000, 120_000, 120_000]) {
		clock.ms += wait - 1;
		assert.equal(breaker.tryAcquirePermission(), null);
		clock.ms += 1;
		enter(breaker).failed();
		wait = next;
	}
	clock.ms += wait;
	enter(breaker).succeeded();
	for (let at = 0; at < 5; at++) enter(breaker).failed();
	clock.ms += 10_000;
	enter(breaker);
});

test('permits another trial call after one without an outcome', () => {
	const { breaker, clock } = opened();
	clock.ms += 10_000;
	enter(breaker).released();
	const probe = enter(breaker);
	assert.equal(breaker.tryAcquirePermission(), null);
	probe.succeeded();
	assert.equal(breaker.state, 'closed');
});

test('ignores failures of calls from before the circuit opened, but closes it after their success', () => {
	const clock = new HandClock();
	const breaker = new CircuitBreaker(clock);
	const early = Array.from({ length: 10 }, () => enter(breaker));
	for (const permit of early.slice(0, 8)) permit.failed();
	clock.ms += 10_000;
	const probe = enter(breaker);
	early[8]?.succeeded();
	assert.equal(breaker.state, 'closed');
	probe.failed();
	assert.equal(breaker.state, 'closed');
});

test('does not keep the circuit open for longer when the clock is set back', () => {
	const { breaker, clock } = opened();
	clock.ms -= 24 * 3_600_000;
	assert.equal(breaker.tryAcquirePermission(), null);
	clock.ms += 10_000;
	enter(breaker);
});

test('permits calls again after the provider has recovered, and never two trial calls at a time, for any order of events', () => {
	const step = fc.oneof(
		fc.constant('enter' as const),
		fc.record({
			permit: fc.nat(30),
			end: fc.constantFrom('responseStarted' as const, 'succeeded' as const, 'failed' as const, 'released' as const),
		}),
		fc.record({ pass: fc.integer({ min: -200_000, max: 200_000 }) }),
	);
	fc.assert(
		fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
			const clock = new HandClock();
			const breaker = new CircuitBreaker(clock);
			const permits: CallPermission[] = [];
			for (const next of steps) {
				if (next === 'enter') {
					const inDoubt = breaker.state === 'half-open';
					const permit = breaker.tryAcquirePermission();
					if (inDoubt) assert.equal(permit, null);
					if (permit) permits.push(permit);
				} else if ('pass' in next) clock.ms += next.pass;
				else permits[next.permit % Math.max(1, permits.length)]?.[next.end]();
			}
			// Every call ends. After the longest open time a call is permitted, and its success closes the circuit.
			for (const permit of permits) permit.released();
			clock.ms += 120_000;
			enter(breaker).succeeded();
			assert.equal(breaker.state, 'closed');
		}),
	);
});

test('permits other calls when an answer begins, but opens the circuit for twice as long at the next failure', () => {
	const { breaker, clock } = opened();
	clock.ms += 10_000;
	const probe = enter(breaker);
	probe.responseStarted();
	const other = enter(breaker);
	probe.failed();
	assert.equal(breaker.state, 'open');
	other.succeeded();
	assert.equal(breaker.state, 'closed', 'somebody had a whole answer');
	for (let at = 0; at < 5; at++) enter(breaker).failed();
	clock.ms += 10_000;
	enter(breaker).responseStarted();
	enter(breaker).failed();
	clock.ms += 19_999;
	assert.equal(breaker.tryAcquirePermission(), null);
	clock.ms += 1;
	enter(breaker);
});
