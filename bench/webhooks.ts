/**
 * npm run bench -- webhooks [--profile FOLDER]
 *
 * Deliveries to a local receiver that answers at once: how many a second, to one endpoint and to ten; what ten endpoints that
 * listen to everything add to the latency of a message; and what one endpoint that never answers adds to the delay of the
 * others. Server and receiver are processes of their own; the load comes from this one. Figures go to
 * .build/bench/webhooks.json too. Takes about two minutes.
 *
 * With --profile: only the throughput to one endpoint, with the server's processor profile written to the folder.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureIsolation } from './webhooks/isolation.ts';
import { measureOverhead } from './webhooks/overhead.ts';
import { converse, deploy, startDelivering, startReceiver } from './webhooks/stage.ts';
import { table, type WebhookFigures } from './webhooks/table.ts';
import { measureThroughput } from './webhooks/throughput.ts';

const CONVERSATIONS = 200;
const ENDPOINTS = 10;
const figuresFile = fileURLToPath(new URL('../.build/bench/webhooks.json', import.meta.url));

const { values } = parseArgs({ options: { profile: { type: 'string' } } });
const dataDir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
try {
	const load = loadavg()[0] as number;
	console.log(
		`${availableParallelism()} cores, shared by server, receiver and load; load average before: ${load.toFixed(2)}`,
	);
	const figures = await (values.profile === undefined ? measureAll() : profile(resolve(values.profile)));
	console.log(table(figures));
	if (values.profile === undefined) {
		await mkdir(join(figuresFile, '..'), { recursive: true });
		const facts = { at: new Date().toISOString(), node: process.version, cores: availableParallelism(), load };
		await writeFile(figuresFile, `${JSON.stringify({ ...facts, ...figures }, null, '\t')}\n`);
	}
} finally {
	await rm(dataDir, { recursive: true, force: true });
}

async function measureAll(): Promise<WebhookFigures> {
	using receiver = await startReceiver();
	await using server = await startDelivering(dataDir);
	const players = { server, receiver };
	const deployment = await deploy(server);
	const conversations = await converse(server, deployment, CONVERSATIONS);
	const throughput = [
		await measureThroughput(players, { endpoints: 1, conversations, rounds: 3 }),
		await measureThroughput(players, { endpoints: ENDPOINTS, conversations, rounds: 2 }),
	];
	const overhead = await measureOverhead(players, {
		deployment,
		endpoints: ENDPOINTS,
		perSecond: 10,
		seconds: 3,
		rounds: 5,
	});
	const isolation = await measureIsolation(players, {
		conversations,
		endpoints: ENDPOINTS - 1,
		perSecond: 30,
		seconds: 3,
		rounds: 5,
	});
	await server.stop();
	return { throughput, overhead, isolation };
}

async function profile(folder: string): Promise<WebhookFigures> {
	using receiver = await startReceiver();
	const options = ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', `'${folder}'`];
	await using server = await startDelivering(dataDir, options);
	const conversations = await converse(server, await deploy(server), CONVERSATIONS);
	const throughput = [await measureThroughput({ server, receiver }, { endpoints: 1, conversations, rounds: 5 })];
	await server.stop();
	return { throughput, overhead: null, isolation: null };
}
