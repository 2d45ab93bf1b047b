/**
 * npm run bench -- busy [--rounds N] [--rate N] [--profile FOLDER]
 *
 * Measures the latency of the widget's configuration at a fixed arrival rate, in alternating rounds: on an idle server, and while
 * 100 documents are uploaded and indexed and webhooks are delivered. Also measures the longest stalls of the server's event loop.
 * The server with all its threads shares one core with the uploader and the webhook receiver. The load generator, which measures,
 * has another core where the system supports that. Takes about a minute.
 *
 * With --profile: writes the server's CPU profile of busy rounds only to the folder.
 */
import { setPriority } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startServer } from '../test/support/server-process.ts';
import { busyFigures } from './busy/figures.ts';
import { DocumentUploads } from './busy/indexing.ts';
import { measureRounds } from './busy/rounds.ts';
import { LOAD_CPU, pin, SERVER_CPU } from './load/cores.ts';
import { deploy } from './load/deploy.ts';
import { startGenerator } from './load/generator.ts';
import { loopDelayOptions } from './load/loop-delay.ts';
import { inspectable } from './load/memory.ts';
import { Report } from './report/report.ts';
import { converse, startReceiver } from './webhooks/processes.ts';

const ORIGIN = 'https://shop.example';
const CONVERSATIONS = 50;
/** Niceness, as for nice(1). */
const LOW_PRIORITY = 19;

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '3' },
		rate: { type: 'string', default: '2000' },
		profile: { type: 'string' },
	},
});
const profiling =
	values.profile === undefined
		? []
		: ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', `'${resolve(values.profile)}'`];

const report = new Report('busy');
const indexing = new DocumentUploads();
using receiver = await startReceiver();
using generator = startGenerator(LOAD_CPU);
await using server = await startServer({
	env: { PARLEY_TRUSTED_PROXIES: '127.0.0.1', PARLEY_ALLOW_PRIVATE_NETWORK: '1' },
	wrapperCommand: inspectable(...loopDelayOptions(), ...profiling),
});
// The generator, which measures, has a core of its own. Uploader and receiver have a lower priority than the server on the other.
const separateCores = [server.pid, receiver.pid, process.pid]
	.map((pid) => pin(pid, SERVER_CPU))
	.every((pinned) => pinned);
for (const pid of [receiver.pid, process.pid]) setPriority(pid, LOW_PRIORITY);
const deployment = await deploy(server, {}, { allowed_domains: ['shop.example'] });
const conversations = await converse(server, deployment, CONVERSATIONS);
const found = await measureRounds(
	{ server, receiver, generator, indexing },
	{
		config: {
			path: `/api/v1/widget/config?deployment_id=${deployment}`,
			origin: ORIGIN,
			perSecond: Number(values.rate),
		},
		conversations,
		rounds: Number(values.rounds),
		includeQuiet: values.profile === undefined,
	},
);
report.add(...busyFigures(found, { apart: separateCores, rate: Number(values.rate) }));
await server.stop();
await report.close();
