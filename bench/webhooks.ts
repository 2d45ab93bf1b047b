/**
 * npm run bench -- webhooks [--profile FOLDER]
 *
 * Measures deliveries to a local receiver that answers at once: deliveries a second, to one endpoint and to ten; what ten endpoints
 * that get all events add to the latency of a message; and what an endpoint that never answers adds to the delay of the others.
 * Server and receiver are separate processes. The load comes from this process. Takes about 45 seconds.
 *
 * With --profile: only the throughput to one endpoint, and writes the server's CPU profile to the folder.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { deploy } from './load/deploy.ts';
import { Report } from './report/report.ts';
import { isolationFigures, overheadFigures, throughputFigures } from './webhooks/figures.ts';
import { measureIsolation } from './webhooks/isolation.ts';
import { measureOverhead } from './webhooks/overhead.ts';
import { converse, startDeliveringServer, startReceiver } from './webhooks/processes.ts';
import { measureThroughput } from './webhooks/throughput.ts';

const CONVERSATIONS = 100;
const ENDPOINTS = 10;

const { values } = parseArgs({ options: { profile: { type: 'string' } } });
const report = new Report('webhooks');
const dataDir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
try {
	await (values.profile === undefined ? measureAll() : profile(resolve(values.profile)));
} finally {
	await rm(dataDir, { recursive: true, force: true });
}
await report.close();

async function measureAll(): Promise<void> {
	using receiver = await startReceiver();
	await using server = await startDeliveringServer(dataDir);
	const players = { server, receiver };
	const deployment = await deploy(server, {}, { rate_limit: { messages_per_minute: 1000 } });
	const conversations = await converse(server, deployment, CONVERSATIONS);
	const one = { endpoints: 1, events: 1_000, conversations, rounds: 3 };
	report.add(...throughputFigures(await measureThroughput(players, one)));
	const ten = { endpoints: ENDPOINTS, events: 250, conversations, rounds: 3 };
	report.add(...throughputFigures(await measureThroughput(players, ten)));
	const overhead = { deployment, endpoints: ENDPOINTS, perSecond: 10, seconds: 2, rounds: 3 };
	report.add(...overheadFigures(await measureOverhead(players, overhead)));
	const isolation = { conversations, endpoints: ENDPOINTS - 1, perSecond: 40, seconds: 2, turns: 2 };
	report.add(...isolationFigures(await measureIsolation(players, isolation)));
	await server.stop();
}

async function profile(folder: string): Promise<void> {
	using receiver = await startReceiver();
	const options = ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', `'${folder}'`];
	await using server = await startDeliveringServer(dataDir, options);
	const conversations = await converse(
		server,
		await deploy(server, {}, { rate_limit: { messages_per_minute: 1000 } }),
		CONVERSATIONS,
	);
	const order = { endpoints: 1, events: 1_000, conversations, rounds: 5 };
	report.add(...throughputFigures(await measureThroughput({ server, receiver }, order)));
	await server.stop();
}
