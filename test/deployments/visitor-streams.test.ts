import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, createLog, deferred } from '../../src/base/index.ts';
import type { RevocableStream, StreamVisit, VisibleDeployment } from '../../src/deployments/index.ts';
import { VisitorStreams } from '../../src/deployments/visitor-streams.ts';
import { renderConfig } from '../../src/deployments/widget-config.ts';
import { until } from '../support/until.ts';
import { deploymentRecord } from './records.ts';

const STREAMS = 100;
const refuse = async () => {
	throw new AppError('domain_not_allowed');
};

function setUp(recheckIntervalMs = 3_600_000) {
	const clock = { at: Date.UTC(2026, 10, 25), now: () => clock.at };
	const streams = new VisitorStreams({ clock, log: createLog('silent'), recheckIntervalMs });
	const record = deploymentRecord();
	const visitOf = (own: Partial<StreamVisit> = {}): StreamVisit => ({
		deployment: record,
		visitor: 'ann',
		expiresAt: null,
		signal: new AbortController().signal,
		recheckAccess: async () => {},
		...own,
	});
	return { clock, streams, record, visitOf, open: (own?: Partial<StreamVisit>) => streams.open(visitOf(own)) };
}

const seenAs = (record = deploymentRecord()): VisibleDeployment => ({
	record,
	config: renderConfig(record),
	allows: () => true,
});

/** Events that a test lets come one by one, and what a stream has told of them. */
function flow(stream: RevocableStream) {
	let next = deferred<number | null>();
	async function* source() {
		for (;;) {
			const event = await next.promise;
			next = deferred();
			if (event === null) return;
			yield event;
		}
	}
	const told: number[] = [];
	let ended = false;
	const reading = (async () => {
		for await (const event of stream.untilRevoked(source())) told.push(event);
		ended = true;
	})();
	return {
		told,
		reading,
		get ended() {
			return ended;
		},
		say: (event: number | null) => next.resolve(event),
	};
}

test('while a visit is being judged nothing is told, and afterwards all of it or nothing', async () => {
	for (const letIn of [true, false]) {
		const { streams, record, open } = setUp();
		using _closing = streams;
		const verdicts = [deferred<void>(), deferred<void>()];
		let judged = 0;
		const stream = open({ recheckAccess: () => (verdicts[judged++] as (typeof verdicts)[0]).promise });
		const events = flow(stream);
		events.say(1);
		await until('the first is told', () => events.told.length === 1);
		streams.recheck(seenAs(record));
		events.say(2);
		streams.recheck(seenAs(record));
		verdicts[0]?.resolve();
		await new Promise(setImmediate);
		assert.deepEqual([judged, events.told], [2, [1]], 'the second verdict is still to come');
		if (letIn) verdicts[1]?.resolve();
		else verdicts[1]?.reject(new AppError('invalid_jwt'));
		await until('it goes on or ends', () => events.told.length === 2 || events.ended);
		assert.deepEqual([events.told, events.ended], letIn ? [[1, 2], false] : [[1], true]);
		assert.equal(stream.signal.aborted, !letIn);
		stream.end();
		assert.deepEqual(streams.size, { deployments: 0, visitors: 0 });
	}
});

test('thousands of streams are judged bit by bit, and none of them tells anything before its turn', async () => {
	const { streams, record, open } = setUp();
	using _closing = streams;
	let judged = 0;
	const all = Array.from({ length: 1_000 }, (_, at) => {
		let known = false;
		const recheckAccess = async () => {
			judged++;
			known = true;
		};
		const stream = open({ visitor: String(at), recheckAccess });
		return { stream, isKnown: () => known };
	});
	streams.recheck(seenAs(record));
	await new Promise(setImmediate);
	assert.ok(judged > 0 && judged < 1_000, `${judged} before anything else had its turn`);
	await Promise.all(
		all.map(async ({ stream, isKnown }) => {
			const events = flow(stream);
			events.say(1);
			await until('it is told', () => events.told.length === 1);
			assert.ok(isKnown());
		}),
	);
	assert.equal(judged, 1_000);
});

test('streams of an archived deployment end unheard, those of another one are not touched', async () => {
	const { streams, record, open } = setUp();
	using _closing = streams;
	const mine = open();
	const other = open({ deployment: deploymentRecord() });
	streams.recheck(seenAs({ ...record, status: 'archived' }));
	await until('it ends', () => mine.signal.aborted);
	assert.equal(other.signal.aborted, false);
	assert.deepEqual(streams.size, { deployments: 1, visitors: 1 });
});

test('a stream ends also where it cannot be judged: a visitor who is let in may come again', async () => {
	const { streams, record, open } = setUp();
	using _closing = streams;
	const failures = [new Error('a defect'), new AppError('unavailable')].map((error) =>
		open({ recheckAccess: () => Promise.reject(error) }),
	);
	streams.recheck(seenAs(record));
	await until('they end', () => failures.every(({ signal }) => signal.aborted));
});

test('a token that is over ends its stream with the next event, or soon where none comes', async () => {
	const { clock, streams, open } = setUp(10);
	using _closing = streams;
	const soon = open({ expiresAt: clock.at + 1_000 });
	const later = open({ expiresAt: clock.at + 2_000 });
	const never = open({ expiresAt: null });
	const events = flow(soon);
	events.say(1);
	await until('it is told', () => events.told.length === 1);
	clock.at += 999;
	streams.endExpired();
	assert.equal(soon.signal.aborted, false);
	clock.at += 1;
	events.say(2);
	await events.reading;
	assert.deepEqual([events.told, soon.signal.aborted], [[1], true]);
	streams.endExpired();
	assert.equal(later.signal.aborted, false);
	clock.at += 1_000;
	await until('the silent one ends by itself', () => later.signal.aborted);
	assert.equal(never.signal.aborted, false);
});

test('a visitor has 100 streams at most, and each that ends, in whatever way and however often, makes room for one', async () => {
	const { clock, streams, record, open, visitOf } = setUp();
	using _closing = streams;
	const client = new AbortController();
	const ends: Array<[visit: Partial<StreamVisit>, end: (stream: RevocableStream) => void]> = [
		[{}, (stream) => stream.end()],
		[{ signal: client.signal }, () => client.abort(new Error('gone'))],
		[{ expiresAt: clock.at + 1 }, () => streams.endExpired()],
		[{ recheckAccess: refuse }, () => streams.recheck(seenAs(record))],
	];
	const first = ends.map(([visit]) => open(visit));
	const rest = Array.from({ length: STREAMS - ends.length }, () => open());
	const isFull = () => {
		assert.throws(
			() => open(),
			({ code, retry_after, message }: AppError) => {
				assert.deepEqual([code, retry_after], ['rate_limit_exceeded', 10]);
				return message.includes('100');
			},
		);
	};
	isFull();
	open({ visitor: 'bob' });
	open({ deployment: deploymentRecord() });
	clock.at += 1;
	for (const [at, [, end]] of ends.entries()) {
		const stream = first[at] as RevocableStream;
		end(stream);
		end(stream);
		stream.end();
		await until('there is room', () => {
			try {
				rest.push(open());
				return true;
			} catch {
				return false;
			}
		});
		isFull();
	}
	assert.equal(first[1]?.signal.reason.message, 'gone');
	for (const stream of rest) stream.end();
	assert.deepEqual(streams.size, { deployments: 2, visitors: 2 }, 'only what is open is remembered');
	const late = streams.open(visitOf({ signal: client.signal }));
	assert.equal(late.signal.aborted, true, 'a client that has gone before it began');
	assert.deepEqual(streams.size, { deployments: 2, visitors: 2 });
});
