import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, createLog, ReadyItems } from '../../src/base/index.ts';
import type { StreamVisit, VisibleDeployment } from '../../src/deployments/index.ts';
import { VisitorStreams } from '../../src/deployments/visitor-streams.ts';
import { renderConfig } from '../../src/deployments/widget-config.ts';
import { TestRequest } from '../support/abortable-request.ts';
import { itemsOf } from '../support/pull-source.ts';
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
	const open = (own: Partial<StreamVisit> = {}) =>
		streams.open({
			deployment: record,
			visitor: 'ann',
			expiresAt: null,
			request: new TestRequest(),
			recheckAccess: async () => {},
			...own,
		});
	return { clock, streams, record, open };
}

const seenAs = (record = deploymentRecord()): VisibleDeployment => ({
	record,
	config: renderConfig(record),
	allows: () => true,
});

test('checks thousands of streams in portions, and none of them sends an event before its check', async () => {
	const { streams, record, open } = setUp();
	using _closing = streams;
	let checked = 0;
	const all = Array.from({ length: 1_000 }, (_, index) => {
		let isChecked = false;
		const recheckAccess = async () => {
			checked++;
			isChecked = true;
		};
		return { stream: open({ visitor: String(index), recheckAccess }), isChecked: () => isChecked };
	});
	streams.recheckAll(seenAs(record));
	await new Promise(setImmediate);
	assert.ok(checked > 0 && checked < 1_000, `${checked} before the event loop continues`);
	await Promise.all(
		all.map(async ({ stream, isChecked }) => {
			const received: string[] = [];
			for await (const event of itemsOf(stream.untilRevoked(new ReadyItems(['event'])))) received.push(event);
			assert.deepEqual([received, isChecked()], [['event'], true]);
		}),
	);
	assert.equal(checked, 1_000);
});

test('ends the streams of an archived deployment without a check, and no others', async () => {
	const { streams, record, open } = setUp();
	using _closing = streams;
	const mine = open();
	const other = open({ deployment: deploymentRecord() });
	streams.recheckAll(seenAs({ ...record, status: 'archived' }));
	await until('it ends', () => mine.signal.aborted);
	assert.equal(other.signal.aborted, false);
	assert.deepEqual(streams.size, { deployments: 1, visitors: 1 });
});

test('ends a stream whose check fails', async () => {
	const { streams, record, open } = setUp();
	using _closing = streams;
	const failures = [new Error('a defect'), new AppError('unavailable')].map((error) =>
		open({ recheckAccess: () => Promise.reject(error) }),
	);
	streams.recheckAll(seenAs(record));
	await until('they end', () => failures.every(({ signal }) => signal.aborted));
});

test('ends a stream without events once its token has expired', async () => {
	const { clock, streams, open } = setUp(10);
	using _closing = streams;
	const expiring = open({ expiresAt: clock.at + 1_000 });
	const unlimited = open();
	clock.at += 1_000;
	await until('the stream ends', () => expiring.signal.aborted);
	assert.equal(unlimited.signal.aborted, false);
});

test('allows a visitor 100 streams per deployment', async () => {
	const { streams, record, open } = setUp();
	using _closing = streams;
	const refused = open({ recheckAccess: refuse });
	for (let count = 1; count < STREAMS; count++) open();
	const expected = { code: 'rate_limit_exceeded', message: /^At most 100 event streams may be open at once\./ };
	assert.throws(() => open(), expected);
	open({ visitor: 'bob' });
	open({ deployment: deploymentRecord() });
	assert.deepEqual(streams.size, { deployments: 2, visitors: 3 });
	streams.recheckAll(seenAs(record));
	await until('the refused stream ends', () => refused.signal.aborted);
	open();
	assert.throws(() => open(), expected);
});
