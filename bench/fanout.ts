/**
 * npm run bench -- fanout [--rounds N] [--rate N] [--followers N] [--messages N]
 *
 * Measures the widget's configuration at a fixed arrival rate, in alternating rounds: while 2,000 followers, 1,000 of each of two
 * conversations, only wait, and while they get messages of 8 KB. The server and the followers share one core. The load generator has
 * another where the system supports that. Takes about half a minute.
 */
import { setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { startServer } from '../test/support/server-process.ts';
import { fanoutFigures } from './fanout/figures.ts';
import { measureRounds } from './fanout/rounds.ts';
import { LOAD_CPU, pin, SERVER_CPU } from './load/cores.ts';
import { call, deploy } from './load/deploy.ts';
import { startGenerator } from './load/generator.ts';
import { loopDelayOptions } from './load/loop-delay.ts';
import { inspectable } from './load/memory.ts';
import type { HeldStreams } from './load/streams.ts';
import { startLoad } from './messages/processes.ts';
import { Report } from './report/report.ts';
import { converse } from './webhooks/processes.ts';

const ORIGIN = 'https://shop.example';
const CONVERSATIONS = 2;
const OPEN_TIMEOUT_MS = 90_000;
/** Niceness, as for nice(1). */
const LOW_PRIORITY = 19;

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '3' },
		rate: { type: 'string', default: '1000' },
		followers: { type: 'string', default: '2000' },
		messages: { type: 'string', default: '2' },
	},
});
const followers = Number(values.followers);

const report = new Report('fanout');
using generator = startGenerator(LOAD_CPU);
using load = startLoad();
await using server = await startServer({
	env: { PARLEY_TRUSTED_PROXIES: '127.0.0.1' },
	wrapperCommand: inspectable(...loopDelayOptions()),
});
for (const pid of [server.pid, load.pid, process.pid]) pin(pid, SERVER_CPU);
for (const pid of [load.pid, process.pid]) setPriority(pid, LOW_PRIORITY);
const deployment = await deploy(server, {}, { allowed_domains: ['shop.example'] });
const conversations = await converse(server, deployment, CONVERSATIONS);
for (const id of conversations) await call(server, 'POST', `/api/v1/conversations/${id}/takeover`);
const held = (await load.send(
	{
		port: server.port,
		hold: Array.from(
			{ length: followers },
			(_, at) => `/api/v1/conversations/${conversations[at % CONVERSATIONS]}/events`,
		),
		headers: [`Authorization: Bearer ${server.key}`, 'Accept: text/event-stream'],
	},
	OPEN_TIMEOUT_MS,
)) as HeldStreams;
if (held.open < followers) throw new Error(`${held.open} of ${followers} streams are open: ${held.firstFailure}`);
const found = await measureRounds(
	{ server, generator, load },
	{
		config: {
			path: `/api/v1/widget/config?deployment_id=${deployment}`,
			origin: ORIGIN,
			perSecond: Number(values.rate),
		},
		conversations,
		messagesPerSecond: Number(values.messages),
		rounds: Number(values.rounds),
	},
);
report.add(...fanoutFigures(found, followers));
await load.send({ release: true }, OPEN_TIMEOUT_MS);
await server.stop();
await report.close();
