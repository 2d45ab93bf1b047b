import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CircuitBreaker, type CircuitState, type Permit } from '../../src/models/providers/circuit-breaker.ts';
import { ModelServer } from '../support/model-server.ts';
import { openProvider, outcomeOf } from './fixtures/provider.ts';

/** A clock that stands until a test moves it. */
class HandClock {
	ms = 1_000_000;
	now(): number {
		return this.ms;
	}
}

function enter(breaker: CircuitBreaker): Permit {
	const permit = breaker.enter();
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

test('five failures in a row open the circuit for ten seconds', () => {
	const { breaker, clock, states } = opened();
	assert.equal(breaker.enter(), null);
	clock.ms += 9_999;
	assert.equal(breaker.enter(), null);
	clock.ms += 1;
	enter(breaker);
	assert.deepEqual(states, ['open', 'half-open']);
});

test('one success between failures keeps the circuit closed', () => {
	const breaker = new CircuitBreaker(new HandClock());
	for (let at = 0; at < 100; at++) {
		for (let failure = 0; failure < 4; failure++) enter(breaker).failed();
		enter(breaker).succeeded();
	}
	assert.equal(breaker.state, 'closed');
});

test('after its time one may try, the others not; a success lets everybody in again', () => {
	const { breaker, clock } = opened();
	clock.ms += 10_000;
	const probe = enter(breaker);
	assert.equal(breaker.enter(), null);
	probe.succeeded();
	assert.equal(breaker.state, 'closed');
	for (let at = 0; at < 4; at++) enter(breaker).failed();
	assert.equal(breaker.state, 'closed', 'failures are counted from the beginning');
});

test('a failed try opens the circuit for twice as long, up to two minutes', () => {
	const { breaker, clock } = opened();
	let wait = 10_000;
	for (const next of [20_000, 40_000, 80_000, 120_000, 120_000]) {
		clock.ms += wait - 1;
		assert.equal(breaker.enter(), null);
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

test('a try that was given up leaves the next one to somebody else', () => {
	const { breaker, clock } = opened();
	clock.ms += 10_000;
	enter(breaker).abandoned();
	const probe = enter(breaker);
	assert.equal(breaker.enter(), null);
	probe.succeeded();
	assert.equal(breaker.state, 'closed');
});

test('calls from before the circuit opened do not keep it open, but their success closes it', () => {
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

test('a clock that is set back does not keep the circuit open for longer', () => {
	const { breaker, clock } = opened();
	clock.ms -= 24 * 3_600_000;
	assert.equal(breaker.enter(), null);
	clock.ms += 10_000;
	enter(breaker);
});

test('whatever happens in whatever order, a provider that answers again is asked again, and never by two at a time while in doubt', () => {
	const step = fc.oneof(
		fc.constant('enter' as const),
		fc.record({
			permit: fc.nat(30),
			end: fc.constantFrom('succeeded' as const, 'failed' as const, 'abandoned' as const),
		}),
		fc.record({ pass: fc.integer({ min: -200_000, max: 200_000 }) }),
	);
	fc.assert(
		fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
			const clock = new HandClock();
			const breaker = new CircuitBreaker(clock);
			const permits: Permit[] = [];
			for (const next of steps) {
				if (next === 'enter') {
					const inDoubt = breaker.state === 'half-open';
					const permit = breaker.enter();
					if (inDoubt) assert.equal(permit, null);
					if (permit) permits.push(permit);
				} else if ('pass' in next) clock.ms += next.pass;
				else permits[next.permit % Math.max(1, permits.length)]?.[next.end]();
			}
			// Every call ends sometime; after the longest time there is, somebody may ask, and a success is all it takes.
			for (const permit of permits) permit.abandoned();
			clock.ms += 120_000;
			enter(breaker).succeeded();
			assert.equal(breaker.state, 'closed');
		}),
	);
});

test('a dead provider fails fast, is not asked meanwhile, and answers again when it is back', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	server.always([{ status: 500, headers: { 'retry-after': '60' } }]);
	for (let at = 0; at < 5; at++) assert.match(String((await outcomeOf(provider.chat)).error), /failed with status 500/);
	assert.equal(server.calls.length, 5);
	const fast = await outcomeOf(provider.chat);
	assert.match(String(fast.error), /has failed several times in a row/);
	assert.deepEqual([(fast.error as { code?: string }).code, server.calls.length], ['model_error', 5]);
	server.always([{ say: 'Back.' }]);
	assert.ok((await outcomeOf(provider.chat)).error, 'it is not known yet');
	clock.ms += 10_000;
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
	assert.match(provider.logged(), /"circuit":"open"[\s\S]*"circuit":"half-open"[\s\S]*"circuit":"closed"/);
});

test('while one asks whether a provider is back, the others fail fast; when that one is stopped, another asks', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	server.always([{ status: 500, headers: { 'retry-after': '60' } }]);
	for (let at = 0; at < 5; at++) await outcomeOf(provider.chat);
	clock.ms += 10_000;
	server.always([{ hang: true }]);
	const controller = new AbortController();
	const probe = outcomeOf(provider.chat, {}, controller.signal);
	await server.call(5);
	assert.match(String((await outcomeOf(provider.chat)).error), /has failed several times/);
	controller.abort(new Error('stopped'));
	await probe;
	server.always([{ say: 'Back.' }]);
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
});

test('what a provider refuses with good reason does not open its circuit', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider());
	for (const status of [400, 401, 403, 404, 413, 422]) {
		server.always([{ status }]);
		for (let at = 0; at < 6; at++) await outcomeOf(provider.chat);
	}
	for (const finish of ['length', 'content_filter', 'stop'] as const) {
		server.always([{ finish }]);
		for (let at = 0; at < 6; at++) assert.ok((await outcomeOf(provider.chat)).error);
	}
	server.always([{ say: 'Hello.' }]);
	assert.equal((await outcomeOf(provider.chat)).text, 'Hello.');
});
