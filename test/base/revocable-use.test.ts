import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
	type AbortableRequest,
	type AppError,
	deferred,
	type RevocableUse,
	RevocableUses,
} from '../../src/base/index.ts';
import { TestRequest } from '../support/abortable-request.ts';
import { IterableSource, itemsOf } from '../support/pull-source.ts';
import { until } from '../support/until.ts';

const LIMIT = 3;

interface Terms {
	grantId?: string;
	limitKey?: string;
	expiresAt?: number | null;
	request?: AbortableRequest;
}

function setUp() {
	const clock = { at: Date.UTC(2026, 10, 25), now: () => clock.at };
	const uses = new RevocableUses<string>({
		clock,
		concurrencyLimit: LIMIT,
		limitSentence: (limit) => `At most ${limit} uses.`,
	});
	const begin = ({ grantId = 'grant', limitKey = 'ann', expiresAt = null, request = new TestRequest() }: Terms = {}) =>
		uses.begin({ grantId, limitKey, context: grantId, expiresAt, request });
	return { clock, uses, begin };
}

/** A source whose events a test sends one by one, and the events that a use has passed on. */
function pipe(use: RevocableUse<string>) {
	let next = deferred<number | null>();
	let isSourceClosed = false;
	async function* source() {
		try {
			for (;;) {
				const event = await next.promise;
				next = deferred();
				if (event === null) return;
				yield event;
			}
		} finally {
			isSourceClosed = true;
		}
	}
	const closing = new AbortController();
	const events = itemsOf(use.untilRevoked(new IterableSource(source())), closing.signal);
	const received: number[] = [];
	let isDone = false;
	const reading = (async () => {
		for await (const event of events) received.push(event);
		isDone = true;
	})();
	return {
		received,
		reading,
		get isDone() {
			return isDone;
		},
		get isSourceClosed() {
			return isSourceClosed;
		},
		close: () => closing.abort(),
		send: (event: number | null) => next.resolve(event),
		fail: (error: Error) => next.reject(error),
	};
}

test('withholds events while checks are pending, and then sends all of them or none', async () => {
	for (const isPermitted of [true, false]) {
		const { uses, begin } = setUp();
		const use = begin();
		const stream = pipe(use);
		stream.send(1);
		await until('the first event is received', () => stream.received.length === 1);
		const checks = [deferred<void>(), deferred<void>()];
		for (const check of checks) use.withholdUntil(check.promise);
		stream.send(2);
		checks[0]?.resolve();
		await new Promise(setImmediate);
		assert.deepEqual(stream.received, [1], 'the second check is still pending');
		if (!isPermitted) use.revoke();
		checks[1]?.resolve();
		await until('the stream continues or ends', () => stream.received.length === 2 || stream.isDone);
		assert.deepEqual([stream.received, stream.isDone], isPermitted ? [[1, 2], false] : [[1], true]);
		assert.deepEqual([use.signal.aborted, use.isRevoked], [!isPermitted, !isPermitted]);
		use.end();
		assert.deepEqual(uses.size, { grants: 0, limitKeys: 0 });
	}
});

test('ends a revoked stream with its next event and closes the source', async () => {
	const { begin } = setUp();
	const use = begin();
	const stream = pipe(use);
	use.revoke();
	stream.send(1);
	await stream.reading;
	assert.deepEqual([stream.received, stream.isSourceClosed], [[], true]);
});

test('ends a revoked stream at once, with or without a reader', async () => {
	for (const isOpened of [true, false]) {
		const use = setUp().begin();
		let isClosed = false;
		const close = () => {
			isClosed = true;
		};
		const events = itemsOf(use.untilRevoked({ open() {}, read: () => null, isEnded: false, close }));
		const next = isOpened ? events.next() : null;
		use.revoke();
		const { done } = await (next ?? events.next());
		assert.deepEqual([done, isClosed], [true, true]);
	}
});

test('ends a use with the last event, a failure of the source, or the return of the reader', async () => {
	const { uses, begin } = setUp();
	const completed = pipe(begin());
	completed.send(null);
	await completed.reading;
	const failed = pipe(begin());
	failed.fail(new Error('the source failed'));
	await assert.rejects(failed.reading, { message: 'the source failed' });
	const returned = pipe(begin());
	returned.send(1);
	await until('an event is received', () => returned.received.length === 1);
	returned.send(2);
	returned.close();
	await returned.reading;
	assert.equal(returned.isSourceClosed, true);
	assert.deepEqual(uses.size, { grants: 0, limitKeys: 0 });
});

test('ends an expired use with its next event, or at the next check for expired uses', async () => {
	const { clock, uses, begin } = setUp();
	const first = begin({ expiresAt: clock.at + 1_000 });
	const second = begin({ expiresAt: clock.at + 2_000 });
	const unlimited = begin();
	const stream = pipe(first);
	stream.send(1);
	await until('the event is received', () => stream.received.length === 1);
	clock.at += 999;
	uses.endExpired();
	assert.equal(first.signal.aborted, false);
	clock.at += 1;
	stream.send(2);
	await stream.reading;
	assert.deepEqual([stream.received, first.signal.aborted, first.isRevoked], [[1], true, true]);
	uses.endExpired();
	assert.equal(second.signal.aborted, false);
	clock.at += 1_000;
	uses.endExpired();
	assert.deepEqual([second.signal.aborted, unlimited.signal.aborted], [true, false]);
});

test('ends a use with its request, which is not a revocation', () => {
	const { uses, begin } = setUp();
	const request = new TestRequest();
	const use = begin({ request });
	request.abort(new Error('gone'));
	assert.deepEqual([use.signal.aborted, use.isRevoked, use.signal.reason.message], [true, false, 'gone']);
	const late = begin({ request });
	assert.deepEqual([late.signal.aborted, late.isEnded], [true, true], 'the request was aborted before');
	assert.deepEqual(uses.size, { grants: 0, limitKeys: 0 });
});

test('a completed use does not abort its signal, also when its request aborts or its grant is revoked later', () => {
	const { begin } = setUp();
	const request = new TestRequest();
	const use = begin({ request });
	use.end();
	request.abort(new Error('gone'));
	use.revoke();
	assert.deepEqual([use.signal.aborted, use.isRevoked], [false, false]);
});

test('finds the uses of a grant', () => {
	const { uses, begin } = setUp();
	const [one, two] = [begin(), begin({ limitKey: 'bob' })];
	const other = begin({ grantId: 'other' });
	assert.deepEqual([uses.grantIds(), uses.of('grant'), uses.of('none')], [['grant', 'other'], [one, two], []]);
	assert.equal(other.context, 'other');
	for (const use of uses.of('grant')) use.revoke();
	assert.deepEqual([uses.grantIds(), other.signal.aborted], [['other'], false]);
});

test('limits the uses per key, and every way to end a use frees one place, however often it ends', () => {
	const { clock, uses, begin } = setUp();
	const client = new TestRequest();
	const ways: Array<[terms: Terms, end: (use: RevocableUse<string>) => void]> = [
		[{}, (use) => use.end()],
		[{}, (use) => use.revoke()],
		[{ request: client }, () => client.abort(new Error('gone'))],
		[{ expiresAt: clock.at + 1 }, () => uses.endExpired()],
	];
	for (const [terms, end] of ways) {
		const use = begin(terms);
		const others = [begin(), begin()];
		const expected = ({ code, retry_after, message }: AppError) => {
			assert.deepEqual([code, retry_after], ['rate_limit_exceeded', 10]);
			return message === `At most ${LIMIT} uses. Try again in 10 seconds.`;
		};
		assert.throws(() => begin(), expected);
		begin({ limitKey: 'bob' }).end();
		clock.at += 1;
		end(use);
		end(use);
		use.end();
		others.push(begin());
		assert.throws(() => begin(), expected);
		for (const other of others) other.end();
		assert.deepEqual(uses.size, { grants: 0, limitKeys: 0 }, 'no entry remains');
	}
});
