/**
 * npm run bench -- dashboard [--short]
 *
 * Measures the dashboard in a real browser, over a line with round trips of 150 ms and 1.6 Mbit/s: the time from opening it until a
 * person can sign in, and until a person who is signed in sees the conversations; and the bytes loaded until then. Each round is a
 * browser without stored files. Takes about half a minute.
 *
 * With --short: one round.
 */
import { parseArgs } from 'node:util';
import { openCookieClient, PASSWORD, setPassword, tokenOf } from '../test/access/people.ts';
import { noBrowser, startBrowser } from '../test/support/browser.ts';
import { startServer } from '../test/support/server-process.ts';
import { spreadOf } from './load/spread.ts';
import { Report } from './report/report.ts';
import { openSlowNetwork } from './widget/slow-network.ts';

const TARGET_MS = 1_500;
const SLOW_NETWORK = { roundTripMs: 150, bytesPerSecond: 1_600_000 / 8 };
const EMAIL = 'ada@example.com';

const { values } = parseArgs({ options: { short: { type: 'boolean' } } });
const rounds = values.short ? 1 : 7;
if (noBrowser) throw new Error(noBrowser);

const report = new Report('dashboard');
await using server = await startServer();
const cookie = await signedInCookie();
await using line = await openSlowNetwork(server.port, SLOW_NETWORK);
await using browser = await startBrowser();

const times = { signIn: [] as number[], inbox: [] as number[] };
const bytes = { signIn: [] as number[], inbox: [] as number[] };
for (let round = 0; round < rounds; round++) {
	await open('signIn', [], 'input[type=password]');
	await open('inbox', [cookie], '.empty, .inbox-entry');
}

const goal = { is: 'at most', bound: TARGET_MS } as const;
const figures = (name: string, what: keyof typeof times) => [
	{ name: `opening to ${name}`, unit: 'ms', value: spreadOf(times[what]), goal },
	{ name: `loaded until ${name}`, unit: 'KiB', value: spreadOf(bytes[what].map((count) => count / 1024)) },
];
report.add(...figures('signing in', 'signIn'), ...figures('the list of conversations', 'inbox'));
await report.close();

/** Opens the dashboard in a new browser and waits for an element. */
async function open(what: keyof typeof times, cookies: { name: string; value: string }[], element: string) {
	await using visitor = await browser.visitor();
	await visitor.context.addCookies(cookies.map((each) => ({ ...each, url: line.url })));
	line.bytes();
	const begun = performance.now();
	await visitor.page.goto(`${line.url}/dashboard#/inbox`, { waitUntil: 'commit' });
	await visitor.page.locator(element).first().waitFor();
	times[what].push(performance.now() - begun);
	bytes[what].push(line.bytes());
}

/** The session cookie of a new owner. */
async function signedInCookie(): Promise<{ name: string; value: string }> {
	const { body } = await server.call('POST', '/api/v1/users', { email: EMAIL, role: 'owner' });
	await setPassword(server, tokenOf(body.password_link));
	const client = openCookieClient(server);
	await client.call('POST', '/api/v1/session', { email: EMAIL, password: PASSWORD });
	return { name: 'parley_session', value: client.cookie ?? '' };
}
