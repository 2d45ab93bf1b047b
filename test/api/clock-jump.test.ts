import assert from 'node:assert/strict';
import test from 'node:test';
import { addUser, openCookieClient, PASSWORD, startAppWithUsers } from '../access/people.ts';
import { startTestApp } from '../support/app.ts';
import { ManualClock } from '../support/manual-clock.ts';

const DAY = 24 * 3_600_000;
const ASSISTANTS = '/api/v1/assistants';
const SESSION = '/api/v1/session';

test('while the clock is 45 days ahead, a repeat creates nothing twice, and a session is rejected but not lost', async () => {
	// Stored responses are compared with the system clock, by which this one was stored 45 days ago.
	const clock = new ManualClock(Date.now() - 45 * DAY);
	await using peopled = await startAppWithUsers({ overrides: { clock } });
	const { app } = peopled;
	const headers = { 'idempotency-key': 'one assistant' };
	const first = await app.call('POST', ASSISTANTS, { name: 'Once' }, headers);
	assert.equal(first.status, 201);
	const email = 'jump@example.com';
	await addUser(app, email, 'member');
	const browser = openCookieClient(app);
	assert.equal((await browser.call('POST', SESSION, { email, password: PASSWORD })).status, 201);

	clock.adjust(45 * DAY);
	const repeat = await app.call('POST', ASSISTANTS, { name: 'Once' }, headers);
	assert.deepEqual([repeat.status, repeat.body], [201, first.body]);
	assert.equal(repeat.headers.get('idempotent-replayed'), 'true');
	const named = (await app.call('GET', ASSISTANTS)).body.data.filter(({ name }: { name: string }) => name === 'Once');
	assert.equal(named.length, 1);
	const refused = await statusOfSession(browser);
	assert.equal(refused, 401, 'by this clock the session has expired');

	clock.adjust(-45 * DAY);
	assert.equal(await statusOfSession(browser), 200, 'the session still exists');
});

test('a response stored while the clock is 20 days behind is repeated after a restart with the right time', async () => {
	const clock = new ManualClock(Date.now());
	const early = await startTestApp({ overrides: { clock } });
	clock.adjust(-20 * DAY);
	const headers = { 'idempotency-key': 'one assistant' };
	const first = await early.call('POST', ASSISTANTS, { name: 'Once' }, headers);
	assert.equal(first.status, 201);
	clock.adjust(20 * DAY);
	await using late = await early.restart();
	const repeat = await late.call('POST', ASSISTANTS, { name: 'Once' }, headers);
	assert.deepEqual([repeat.status, repeat.body], [201, first.body]);
});

async function statusOfSession(browser: ReturnType<typeof openCookieClient>): Promise<number> {
	return (await browser.call('GET', SESSION)).status;
}
