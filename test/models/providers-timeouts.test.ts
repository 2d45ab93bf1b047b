import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withDeadline } from '../../src/base/index.ts';
import { classifyFailure } from '../../src/models/providers/provider-failure.ts';
import { MAX_ATTEMPTS, nextRetryDelay } from '../../src/models/providers/retry.ts';
import { eventsOfAnswer } from '../support/model-events.ts';
import { type ModelCall, type ModelScript, ModelServer } from '../support/model-server.ts';
import { chatRequest, openProvider, outcomeOf } from './fixtures/provider.ts';

const TYPES = ['openai-compatible', 'anthropic'] as const;
/** Timers and clocks may be early by a millisecond. */
const EARLY_MS = 5;
/** Time limits that end no call during a test, so that a closed connection has another reason. */
const NO_TIME_LIMITS = { first_token_timeout_ms: 3_600_000, idle_timeout_ms: 3_600_000 };

/** Waits until the provider sees that the connection is closed. */
async function seesTheCallerLeave(call: ModelCall): Promise<void> {
	assert.equal(await withDeadline(call.callerLeft, 20_000, () => new Error('The connection is still open.')), true);
}

for (const type of TYPES) {
	const waits: Array<[how: string, script: ModelScript]> = [
		['says nothing', [{ hang: true }]],
		['has not said a word', [{ raw: ': wait\n\n' }, { hang: true }]],
		['thinks', [{ think: 'Hm.' }, { hang: true }]],
	];
	for (const [how, script] of waits) {
		test(`${type}: ends a stopped reply at once while its provider ${how}, and closes the connection`, async () => {
			await using server = await ModelServer.start();
			await using provider = openProvider(server.provider({ type, ...NO_TIME_LIMITS }));
			server.setDefault(script);
			const controller = new AbortController();
			const reason = new Error('stopped');
			const asked = outcomeOf(provider.chat, {}, controller.signal);
			const call = await server.call(0);
			controller.abort(reason);
			const { error } = await asked;
			assert.equal(error, reason);
			await seesTheCallerLeave(call);
			assert.equal(server.calls.length, 1, 'what was stopped is not tried again');
		});
	}

	test(`${type}: ends a reply that is stopped in the middle at once, and closes the connection`, async () => {
		await using server = await ModelServer.start();
		await using provider = openProvider(server.provider({ type, ...NO_TIME_LIMITS }));
		server.setDefault([{ say: 'Half an ' }, { hang: true }]);
		const controller = new AbortController();
		const reason = new Error('stopped');
		const said: unknown[] = [];
		await assert.rejects(
			async () => {
				for await (const event of eventsOfAnswer(provider.chat, chatRequest(), controller.signal)) {
					said.push(event);
					setImmediate(() => controller.abort(reason));
				}
			},
			(thrown) => thrown === reason,
		);
		assert.deepEqual(said, [{ type: 'delta', text: 'Half an ' }]);
		await seesTheCallerLeave(await server.call(0));
	});

	test(`${type}: closes the connection of an answer whose reader returns early`, async () => {
		await using server = await ModelServer.start();
		await using provider = openProvider(server.provider({ type, ...NO_TIME_LIMITS }));
		server.setDefault([{ say: 'One. ' }, { hang: true }]);
		for await (const event of eventsOfAnswer(provider.chat, chatRequest())) {
			assert.deepEqual(event, { type: 'delta', text: 'One. ' });
			break;
		}
		await seesTheCallerLeave(await server.call(0));
	});
}

test('does not retry after a stop between two attempts', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider());
	server.setDefault([{ status: 503, headers: { 'retry-after': '15' } }]);
	const controller = new AbortController();
	const asked = outcomeOf(provider.chat, {}, controller.signal);
	const call = await server.call(0);
	await call.callerLeft;
	controller.abort(new Error('stopped'));
	const { error } = await withDeadline(asked, 12_000, () => new Error('It waits for the next attempt.'));
	assert.deepEqual([String(error), server.calls.length], ['Error: stopped', 1]);
});

test('sends no request if the signal has aborted before', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider());
	const { error } = await outcomeOf(provider.chat, {}, AbortSignal.abort(new Error('too late')));
	assert.deepEqual([String(error), server.calls.length], ['Error: too late', 0]);
});

test('retries after a transient failure without a trace in the reply', async () => {
	const scripts: ModelScript[] = [[{ status: 500 }], [{ die: true }], [{ raw: ': wait\n\n' }, { die: true }]];
	for (const type of TYPES) {
		for (const script of scripts) {
			await using server = await ModelServer.start();
			await using provider = openProvider(server.provider({ type }));
			server.enqueue(script, script);
			const { text, error } = await outcomeOf(provider.chat);
			assert.deepEqual([text, error, server.calls.length], ['Hello.', undefined, 3]);
			assert.deepEqual(server.calls[2]?.body, server.calls[0]?.body, 'with the same request');
			const [first, second, third] = server.calls.map(({ at }) => at) as [number, number, number];
			assert.ok(second - first >= 250 - EARLY_MS, `${second - first}`);
			assert.ok(third - second >= 500 - EARLY_MS, `${third - second}`);
		}
	}
});

test('waits before a retry as long as the provider asks', async () => {
	const asking: Record<string, string>[] = [{ 'retry-after': '1' }, { 'retry-after-ms': '1000', 'retry-after': '9' }];
	for (const headers of asking) {
		await using server = await ModelServer.start();
		await using provider = openProvider(server.provider());
		server.enqueue([{ status: 429, headers }]);
		const { text } = await outcomeOf(provider.chat);
		const [first, second] = server.calls.map(({ at }) => at) as [number, number];
		assert.equal(text, 'Hello.');
		assert.ok(second - first >= 1_000 - EARLY_MS, `${second - first}`);
	}
});

test('does not retry if the provider asks for a longer wait than the limit', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider());
	server.setDefault([{ status: 429, headers: { 'retry-after': '3600' } }]);
	const { error } = await outcomeOf(provider.chat);
	assert.match(String(error), /takes no more requests for now/);
	assert.equal(server.calls.length, 1);
});

test('applies one deadline for the first word to all attempts together', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ first_token_timeout_ms: 2_000 }));
	server.enqueue([{ status: 503 }]);
	server.setDefault([{ hang: true }]);
	const { error } = await outcomeOf(provider.chat);
	assert.match(String(error), /did not begin to answer within 2 seconds/);
	await seesTheCallerLeave(await server.call(1));
});

test('lets an answer take longer than its deadlines while text arrives', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ first_token_timeout_ms: 2_000, idle_timeout_ms: 2_000 }));
	const words = Array.from({ length: 12 }, (_, at) => [{ say: `${at} ` }, { pause: 200 }]).flat();
	server.enqueue([{ think: 'Hm.' }, ...words]);
	const { text, error } = await outcomeOf(provider.chat);
	assert.deepEqual([text, error], ['0 1 2 3 4 5 6 7 8 9 10 11 ', undefined]);
});

const FAILED = classifyFailure({ statusCode: 503 }, 0, null);

test('doubles the delay before each retry, with a random part', () => {
	assert.deepEqual(
		[nextRetryDelay(1, FAILED, 0), nextRetryDelay(2, FAILED, 0), nextRetryDelay(3, FAILED, 0)],
		[500, 1_000, null],
	);
	assert.deepEqual([nextRetryDelay(1, FAILED, 1), nextRetryDelay(2, FAILED, 1)], [250, 500]);
	assert.equal(MAX_ATTEMPTS, 3);
});

test('gives the log the text of a provider on one line, bounded and without the key', () => {
	const key = 'k'.repeat(90);
	for (const before of ['', 'x'.repeat(250), ' '.repeat(5_000), 'x'.repeat(9_950), 'x'.repeat(50_000)]) {
		const { detail } = classifyFailure({ statusCode: 401, message: `${before}${key}\n\u001b[31m` }, 0, key);
		assert.ok(detail.length <= 10_000 && !detail.includes('kkk') && !/\p{Cc}/u.test(detail), detail);
	}
});

test('reads every form of Retry-After', () => {
	const now = Date.parse('2026-11-20T12:00:00Z');
	const forms: Array<[headers: Record<string, string>, delay: number | null]> = [
		[{}, 500],
		[{ 'retry-after': '7' }, 7_000],
		[{ 'retry-after': ' 20 ' }, 20_000],
		[{ 'retry-after': '21' }, null],
		[{ 'retry-after': '0' }, 500],
		[{ 'retry-after': '-5' }, 500],
		[{ 'retry-after': 'soon' }, 500],
		[{ 'retry-after': 'Fri, 20 Nov 2026 12:00:09 GMT' }, 9_000],
		[{ 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }, 500],
		[{ 'retry-after': 'Fri, 20 Nov 2027 12:00:00 GMT' }, null],
		[{ 'retry-after-ms': '1250.5', 'retry-after': '7' }, 1_251],
		[{ 'retry-after-ms': 'x', 'retry-after': '7' }, 7_000],
	];
	for (const [responseHeaders, delay] of forms) {
		const failed = classifyFailure({ statusCode: 429, responseHeaders }, now, null);
		assert.equal(nextRetryDelay(1, failed, 0), delay, JSON.stringify(responseHeaders));
	}
});
