import assert from 'node:assert/strict';
import test from 'node:test';
import Database from 'better-sqlite3';
import type { StatisticsReport } from '../../src/contract/index.ts';
import { databaseFile } from '../../src/store/index.ts';
import { percentile, type RecordedEvent, recount, type Span } from './recount.ts';
import { FIRST_DAY, startTraffic, type Traffic } from './traffic.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DAYS = 4;

/** One day: answers of every kind, failures, ratings that change, a takeover. Returns a conversation to erase. */
async function playDay({ app, clock, directed, quoting, send }: Traffic, day: number): Promise<string> {
	const first = await send(directed, `cite ${40 + day} Lumen kettle`);
	await send(directed, `call ${15 * (day + 1)} Lumen kettle`, first.conversation_id);
	const guess = await send(directed, 'guess 800 Lumen kettle');
	await send(directed, 'fail 5 Lumen kettle');
	for (const rating of ['down', day % 2 === 0 ? 'up' : null]) {
		await app.call('POST', `/api/v1/messages/${guess.id}/feedback`, { rating });
		clock.advance(DAY / 8);
	}
	await app.call('POST', `/api/v1/messages/${first.id}/feedback`, { rating: 'up' });
	await send(quoting, 'What is the Lumen kettle made of?');
	const unanswered = await send(quoting, 'Do you deliver to Mars by rocket?');
	await app.call('POST', `/api/v1/conversations/${unanswered.conversation_id}/takeover`);
	await send(quoting, 'Is anybody there?', unanswered.conversation_id);
	await app.call('POST', `/api/v1/conversations/${unanswered.conversation_id}/messages`, { content: 'No, sorry.' });
	clock.advance(DAY - DAY / 4 + HOUR);
	return unanswered.conversation_id;
}

async function report(traffic: Traffic, { from, to, ...filter }: Span, interval: string): Promise<StatisticsReport> {
	const times = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
	const query = new URLSearchParams({ ...times, interval, ...filter });
	const { status, body } = await traffic.app.call('GET', `/api/v1/stats?${query}`);
	assert.equal(status, 200, JSON.stringify(body));
	return body;
}

function assertNear(found: number | null, exact: number | null): void {
	const isNear =
		found === exact || (found !== null && exact !== null && Math.abs(found - exact) <= Math.max(1, exact * 0.05));
	assert.ok(isNear, `${found} for ${exact}`);
}

/** Compares a report with the events of its span. */
function assertCounts(found: StatisticsReport, events: readonly RecordedEvent[], span: Span): void {
	const expected = recount(events, span);
	const { first_token_ms, duration_ms, ...figures } = found.total;
	assert.deepEqual(figures, expected.figures);
	assertNear(first_token_ms.median, percentile(expected.firstTokens, 0.5));
	assertNear(first_token_ms.p95, percentile(expected.firstTokens, 0.95));
	assertNear(duration_ms.median, percentile(expected.durations, 0.5));
	assertNear(duration_ms.p95, percentile(expected.durations, 0.95));
	const byName = <T extends { model: string }>(models: T[]) => models.toSorted((a, b) => (a.model < b.model ? -1 : 1));
	assert.deepEqual(byName(found.models), byName(expected.models));
	const citations = found.top_documents.map(({ document_id, citations: count }) => [document_id, count]);
	assert.deepEqual(Object.fromEntries(citations), expected.citations);
	const length = found.interval === 'hour' ? HOUR : DAY;
	assert.equal(found.buckets.length, (span.to - span.from) / length);
	for (const { start, first_token_ms: _first, duration_ms: _whole, ...bucket } of found.buckets) {
		const from = Date.parse(start);
		assert.deepEqual(bucket, recount(events, { ...span, from, to: from + length }).figures, start);
	}
	const length_ = span.to - span.from;
	const { first_token_ms: _first, duration_ms: _whole, ...before } = found.before;
	assert.deepEqual(before, recount(events, { ...span, from: span.from - length_, to: span.from }).figures);
}

test('all figures are those that are counted from the log, by day and hour, with filters, after erasures, a restart and a rebuild', async () => {
	await using traffic = await startTraffic();
	const { app, clock, directed, quoting, assistant, unread } = traffic;
	const toErase: string[] = [];
	for (let day = 0; day < DAYS; day++) toErase.push(await playDay(traffic, day));
	const events = traffic.log();
	const midnight = Math.floor(FIRST_DAY / DAY) * DAY;
	const spans: Array<[Span, string]> = [
		[{ from: midnight, to: midnight + (DAYS + 1) * DAY }, 'day'],
		[{ from: midnight + 2 * DAY, to: midnight + 4 * DAY }, 'day'],
		[{ from: midnight + DAY, to: midnight + 3 * DAY, deployment_id: quoting }, 'hour'],
		[{ from: midnight, to: midnight + 2 * DAY, deployment_id: directed }, 'day'],
		[{ from: midnight, to: midnight + 5 * DAY, assistant_id: assistant }, 'day'],
	];
	const compareAll = async () => {
		for (const [span, interval] of spans) assertCounts(await report(traffic, span, interval), events, span);
	};
	await compareAll();
	const [all] = spans[0] as [Span, string];
	const whole = await report(traffic, all, 'day');
	assert.equal(whole.is_current, true);
	const { stopped: _stopped, ...kinds } = whole.total.answers;
	const isComplete = Object.values(kinds).every((count) => count > 0);
	assert.ok(isComplete, JSON.stringify(kinds));
	assert.deepEqual([whole.uncited_documents.total, whole.uncited_documents.data[0]?.document_id], [1, unread]);

	for (const id of toErase) await app.call('DELETE', `/api/v1/conversations/${id}?purge=true`);
	assert.ok(traffic.log().length < events.length);
	await compareAll();
	const db = new Database(databaseFile(app.dataDir));
	db.exec('UPDATE figures SET logged = 0; DELETE FROM figures WHERE erased = 0; UPDATE statistics_state SET seq = 0');
	db.close();
	await compareAll();
	clock.advance(DAY);
	const empty = await app.call('GET', '/api/v1/stats?interval=hour');
	assert.equal(empty.body.buckets.length, 24);
	assert.deepEqual(empty.body.total.first_token_ms, { median: null, p95: null });
});

test('a range is extended to whole hours or days of UTC, and must have an order and a bound', async () => {
	await using traffic = await startTraffic();
	const get = (query: string) => traffic.app.call('GET', `/api/v1/stats?${query}`);
	const { body } = await get('from=2026-10-01T10:20:00Z&to=2026-10-02T00:00:01Z');
	assert.deepEqual([body.from, body.to], ['2026-10-01T00:00:00.000Z', '2026-10-03T00:00:00.000Z']);
	const byDefault = (await get('')).body;
	assert.deepEqual([byDefault.to, byDefault.buckets.length], ['2026-10-06T00:00:00.000Z', 30]);
	const backwards = await get('from=2026-10-03T00:00:00Z&to=2026-10-02T00:00:00Z');
	assert.deepEqual([backwards.status, backwards.body.error.details[0].path], [400, '/to']);
	const long = await get('from=2026-10-01T00:00:00Z&to=2026-10-20T00:00:00Z&interval=hour');
	assert.deepEqual([long.status, long.body.error.details[0].path], [400, '/from']);
	assert.equal((await get('interval=week')).status, 400);
});

test('figures of another workspace, and of deployments that do not exist, are empty', async () => {
	await using traffic = await startTraffic();
	await traffic.send(traffic.quoting, 'What is the Lumen kettle made of?');
	const { body } = await traffic.app.call('GET', '/api/v1/stats?deployment_id=dep_unknown');
	assert.equal(body.total.messages.visitor, 0);
	assert.equal((await traffic.app.call('GET', '/api/v1/stats')).body.total.messages.visitor, 1);
});
