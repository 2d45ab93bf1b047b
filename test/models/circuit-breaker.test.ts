import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deferred } from '../../src/base/index.ts';
import type { ChatRequest } from '../../src/models/index.ts';
import { type CallPermission, CircuitBreaker, type CircuitState } from '../../src/models/providers/circuit-breaker.ts';
import { type ModelScript, ModelServer } from '../support/model-server.ts';
import { chatRequest, type Outcome, openProvider, outcomeOf, type TestProvider } from './fixtures/provider.ts';

/** A clock that only the test advances. */
class HandClock {
	ms = 1_000_000;
	now(): number {
		return this.ms;
	}
}

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

test('refuses calls to a failing provider at once, and permits them after it has recovered', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	server.setDefault([{ status: 500, headers: { 'retry-after': '60' } }]);
	for (let at = 0; at < 5; at++) assert.match(String((await outcomeOf(provider.chat)).error), /failed with status 500/);
	assert.equal(server.calls.length, 5);
	const fast = await outcomeOf(provider.chat);
	assert.match(String(fast.error), /has failed several times in a row/);
	assert.deepEqual([(fast.error as { code?: string }).code, server.calls.length], ['model_error', 5]);
	server.setDefault([{ say: 'Back.' }]);
	assert.ok((await outcomeOf(provider.chat)).error, 'it is not known yet');
	clock.ms += 10_000;
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
	assert.match(provider.logged(), /"circuit":"open"[\s\S]*"circuit":"half-open"[\s\S]*"circuit":"closed"/);
});

test('refuses other calls during a trial call, and permits another trial call if that one is stopped', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	server.setDefault([{ status: 500, headers: { 'retry-after': '60' } }]);
	for (let at = 0; at < 5; at++) await outcomeOf(provider.chat);
	clock.ms += 10_000;
	server.setDefault([{ hang: true }]);
	const controller = new AbortController();
	const probe = outcomeOf(provider.chat, {}, controller.signal);
	await server.call(5);
	assert.match(String((await outcomeOf(provider.chat)).error), /has failed several times/);
	controller.abort(new Error('stopped'));
	await probe;
	server.setDefault([{ say: 'Back.' }]);
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
});

test('does not open the circuit after justified refusals', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider());
	for (const status of [400, 401, 403, 404, 413, 422]) {
		server.setDefault([{ status }]);
		for (let at = 0; at < 6; at++) await outcomeOf(provider.chat);
	}
	for (const finish of ['length', 'content_filter', 'stop'] as const) {
		server.setDefault([{ finish }]);
		for (let at = 0; at < 6; at++) assert.ok((await outcomeOf(provider.chat)).error);
	}
	server.setDefault([{ say: 'Hello.' }]);
	assert.equal((await outcomeOf(provider.chat)).text, 'Hello.');
});

/** Sends a number of requests, one after the other. */
async function ask(provider: TestProvider, times: number, request: Partial<ChatRequest> = {}): Promise<Outcome[]> {
	const outcomes: Outcome[] = [];
	for (let at = 0; at < times; at++) outcomes.push(await outcomeOf(provider.chat, request));
	return outcomes;
}

test('does not open the circuit after a refusal within the stream', async () => {
	const message = "This model's maximum context length is 8192 tokens";
	const refusals = [
		{ message, type: 'invalid_request_error', code: 'context_length_exceeded' },
		{ message, type: 'invalid_request_error' },
		{ message, type: 'BadRequestError' },
		{ message, type: 'authentication_error' },
		{ message, type: 'not_found_error' },
	];
	for (const type of ['openai-compatible', 'anthropic'] as const) {
		for (const error of refusals) {
			await using server = await ModelServer.start();
			await using provider = openProvider(server.provider({ type }));
			const scripts: ModelScript[] = [[{ error }], [{ say: 'Well, ' }, { error }]];
			for (const script of scripts) {
				server.setDefault(script);
				const outcomes = await ask(provider, 5);
				for (const { error: thrown } of outcomes) {
					assert.match(String(thrown), /did not (accept|permit)|does not know the model/, JSON.stringify(error));
				}
			}
			assert.equal(server.calls.length, 10, 'none was tried again');
			server.setDefault([{ say: 'Hello.' }]);
			assert.equal((await outcomeOf(provider.chat)).text, 'Hello.');
		}
	}
});

test("opens the circuit of a failing model and not those of the provider's other models", async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	const failing: ModelScript = [{ status: 500, headers: { 'retry-after': '60' } }];
	server.setDefault(({ body }) => (body.model === 'broken' ? failing : [{ say: 'Fine.' }]));
	await ask(provider, 5, { model: 'broken' });
	assert.match(
		String((await outcomeOf(provider.chat, { model: 'broken' })).error),
		/has failed several times in a row/,
	);
	assert.equal(server.calls.length, 5);
	assert.equal((await outcomeOf(provider.chat, { model: 'good' })).text, 'Fine.');
	clock.ms += 10_000;
	await ask(provider, 3, { model: 'good' });
	assert.match(String((await outcomeOf(provider.chat, { model: 'broken' })).error), /status 500/);
	assert.match(provider.logged(), /"model":"broken","circuit":"open"/);
});

test('opens the circuit of all models if the provider takes no more requests or cannot be reached', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	server.setDefault([{ status: 429, headers: { 'retry-after': '60' } }]);
	for (let at = 0; at < 5; at++) await outcomeOf(provider.chat, { model: `model-${at}` });
	assert.match(
		String((await outcomeOf(provider.chat, { model: 'another' })).error),
		/has failed several times in a row/,
	);
	assert.equal(server.calls.length, 5);
	clock.ms += 10_000;
	server.setDefault([{ say: 'Back.' }]);
	assert.equal((await outcomeOf(provider.chat, { model: 'another' })).text, 'Back.');

	const gone = await ModelServer.start();
	await gone[Symbol.asyncDispose]();
	await using absent = openProvider(gone.provider({ first_token_timeout_ms: 5_000 }));
	for (let at = 0; at < 5; at++) await outcomeOf(absent.chat, { model: `model-${at}` });
	assert.match(String((await outcomeOf(absent.chat, { model: 'another' })).error), /has failed several times in a row/);
});

test('opens the circuit of a provider that sends one word and hangs, and again after its next failure', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider({ idle_timeout_ms: 100 }), { clock });
	server.setDefault([{ say: 'Well' }, { hang: true }]);
	const outcomes = await ask(provider, 12);
	assert.equal(server.calls.length, 5);
	assert.match(String(outcomes[4]?.error), /stopped in the middle/);
	assert.match(String(outcomes[5]?.error), /has failed several times in a row/);
	clock.ms += 10_000;
	await ask(provider, 5);
	assert.equal(server.calls.length, 6, 'one try is enough');
	clock.ms += 19_999;
	await ask(provider, 1);
	assert.equal(server.calls.length, 6, 'for twice as long');
	clock.ms += 1;
	server.setDefault([{ say: 'Back.' }]);
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
});

test('permits other calls as soon as the answer of the trial call has begun', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	server.setDefault([{ status: 500, headers: { 'retry-after': '60' } }]);
	await ask(provider, 5);
	clock.ms += 10_000;
	const told = deferred<void>();
	server.setDefault([{ say: 'Hello.' }]);
	server.enqueue([{ say: 'A long ' }, { wait: told.promise }, { say: 'story.' }]);
	const story = provider.chat.stream(chatRequest(), new AbortController().signal)[Symbol.asyncIterator]();
	assert.deepEqual((await story.next()).value, { type: 'delta', text: 'A long ' });
	assert.equal((await outcomeOf(provider.chat)).text, 'Hello.');
	told.resolve();
	assert.deepEqual((await story.next()).value, { type: 'delta', text: 'story.' });
	await story.return?.();
});

test('opens the circuit although stopped calls are between the failures', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider());
	for (let at = 0; at < 5; at++) {
		server.enqueue([{ say: 'Well' }, { hang: true }], [{ status: 500, headers: { 'retry-after': '60' } }]);
		for await (const _ of provider.chat.stream(chatRequest(), new AbortController().signal)) break;
		await outcomeOf(provider.chat);
	}
	assert.match(String((await outcomeOf(provider.chat)).error), /has failed several times in a row/);
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
