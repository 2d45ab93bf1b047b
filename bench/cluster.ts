/**
 * npm run bench -- cluster [--rounds N] [--seconds N]
 *
 * Measures streamed messages on the embedded store, on PostgreSQL with one node and with two, in turns: messages a second, and the
 * processor time of a message at the nodes and at PostgreSQL. From these it computes what machines of their own would carry. Then the time
 * that a forward adds, and how long conversations of a node that was killed are without one. PostgreSQL is on the same machine and syncs
 * its commits. Nothing is bound to a core.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sleep } from '../src/base/index.ts';
import { skipWithoutPostgres, startPostgres } from '../test/support/postgres.ts';
import type { ServerProcess } from '../test/support/server-process.ts';
import { BenchCluster } from './cluster/nodes.ts';
import { call } from './load/deploy.ts';
import { processorTime, processorTimeOfFamily } from './load/processor-time.ts';
import { percentileOf, type Spread, spreadOf } from './load/spread.ts';
import {
	deployScripted,
	messagesTo,
	type ScriptedModel,
	startLoad,
	startModel,
	startServerWithModel,
	sustainStreams,
	warmUp,
} from './messages/processes.ts';
import { type Figure, once } from './report/figure.ts';
import { Report } from './report/report.ts';

const SCRIPT = { firstTokenMs: 0, tokenIntervalMs: 0, tokens: 40 };
const STREAMS = 20;
const SPREAD_MS = 250;
const FIRST_PORT = 29_700;
const CONVERSATIONS = 100;
const TAKEOVERS = 5;
const MAX_TAKEOVER_MS = 4_000;
const ATTEMPT_MS = 20;

const { values } = parseArgs({
	options: { rounds: { type: 'string', default: '4' }, seconds: { type: 'string', default: '4' } },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

/** What carries a load: its servers get equal parts of it. */
interface Setup {
	name: string;
	servers: ServerProcess[];
	/** The first process of PostgreSQL; null for the embedded store. */
	postgres: number | null;
}

interface Result {
	/** Messages a second. */
	rate: number;
	/** Processor time of a message (ms). */
	nodeMs: number;
	postgresMs: number;
}

if (skipWithoutPostgres) console.log(skipWithoutPostgres);
else await measureAll();

async function measureAll(): Promise<void> {
	const report = new Report('cluster');
	const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
	try {
		using model = await startModel();
		await measureMessages(report, model, folder);
		await using postgres = await startPostgres({ syncs: true });
		await using cluster = await BenchCluster.open(await postgres.database('moves'), model, FIRST_PORT + 50);
		await cluster.add();
		await cluster.add();
		report.add(await measureForward(cluster), await measureTakeover(cluster));
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
	await report.close();
}

async function measureMessages(report: Report, model: ScriptedModel, folder: string): Promise<void> {
	await using postgres = await startPostgres({ syncs: true });
	await using embedded = await startServerWithModel(model, { dataDir: folder });
	await using one = await BenchCluster.open(await postgres.database('one'), model, FIRST_PORT);
	await using two = await BenchCluster.open(await postgres.database('two'), model, FIRST_PORT + 20);
	for (const cluster of [one, two, two]) await cluster.add();
	const serversOf = ({ nodes }: BenchCluster) => nodes.map(({ server }) => server);
	const setups: Setup[] = [
		{ name: 'the embedded store', servers: [embedded], postgres: null },
		{ name: 'one node on PostgreSQL', servers: serversOf(one), postgres: postgres.pid },
		{ name: 'two nodes on PostgreSQL', servers: serversOf(two), postgres: postgres.pid },
	];
	const loads = [startLoad(), startLoad()];
	try {
		for (const { servers } of setups) {
			for (const server of servers)
				await warmUp(loads[0] as ReturnType<typeof startLoad>, { ...server, who: 'parley' });
		}
		const results: Result[][] = setups.map(() => []);
		for (let round = 0; round < rounds; round++) {
			for (let at = 0; at < setups.length; at++) {
				const index = (at + round) % setups.length;
				(results[index] as Result[]).push(await measureOnce(setups[index] as Setup, loads));
			}
		}
		report.add(...setups.flatMap((setup, index) => messageFigures(setup, results[index] as Result[])));
		report.add(...comparisons(results));
	} finally {
		for (const load of loads) load[Symbol.dispose]();
	}
}

async function measureOnce({ name, servers, postgres }: Setup, loads: ReturnType<typeof startLoad>[]): Promise<Result> {
	const deployment = await deployScripted(servers[0] as ServerProcess, SCRIPT);
	const nodesTime = () => servers.reduce((sum, { pid }) => sum + (processorTime(pid) ?? Number.NaN), 0);
	const postgresTime = () => (postgres === null ? 0 : (processorTimeOfFamily(postgres) ?? Number.NaN));
	const before = { nodes: nodesTime(), postgres: postgresTime(), at: performance.now() };
	const amount = { streams: STREAMS / servers.length, spreadMs: SPREAD_MS, seconds };
	const seen = await Promise.all(
		servers.map((server, index) => {
			const load = loads[index] as ReturnType<typeof startLoad>;
			return sustainStreams(load, messagesTo(server, deployment, amount));
		}),
	).catch((cause: unknown) => {
		const printed = servers.map((server) => server.output()).join('');
		throw new Error(`Messages to ${name} failed. Its servers printed:\n${printed}`, { cause });
	});
	const wholeSeconds = (performance.now() - before.at) / 1000;
	const rate = seen.reduce((sum, { completed, seconds: measured }) => sum + completed / measured, 0);
	// The processor works before and after the measured seconds, too, at the same rate.
	const messages = rate * wholeSeconds;
	return {
		rate,
		nodeMs: (1000 * (nodesTime() - before.nodes)) / messages,
		postgresMs: (1000 * (postgresTime() - before.postgres)) / messages,
	};
}

function messageFigures({ name, postgres }: Setup, results: readonly Result[]): Figure[] {
	const of = (part: keyof Result): Spread => spreadOf(results.map((result) => result[part]));
	const figures: Figure[] = [
		{ name: `${name}: messages`, unit: '/s', value: of('rate') },
		{ name: `${name}: processor time a message, all nodes`, unit: 'ms', value: of('nodeMs') },
	];
	if (postgres !== null) {
		figures.push({ name: `${name}: processor time a message, PostgreSQL`, unit: 'ms', value: of('postgresMs') });
	}
	return figures;
}

function comparisons(results: readonly Result[][]): Figure[] {
	const [embedded = [], one = [], two = []] = results;
	const ratio = (of: (result: Result) => number, over: readonly Result[], under: readonly Result[]) =>
		spreadOf(over.map((result, round) => of(result) / of(under[round] as Result)));
	const cores = availableParallelism();
	// A node's main thread does most of its work, so a node counts as one core.
	const carried = two.map(({ nodeMs, postgresMs }) => Math.min((2 * 1000) / nodeMs, (cores * 1000) / postgresMs));
	return [
		{ name: "one node: rate, times the embedded store's", unit: '×', value: ratio(({ rate }) => rate, one, embedded) },
		{ name: "two nodes: rate, times one node's", unit: '×', value: ratio(({ rate }) => rate, two, one) },
		{
			...{ name: 'two nodes and PostgreSQL on machines of their own, computed', unit: '/s', value: spreadOf(carried) },
			remark: `by the processor time of two nodes: a core for each node, ${cores} for PostgreSQL`,
		},
	];
}

/** A request that the owner answers from memory, at the owner and at the other node. */
async function measureForward(cluster: BenchCluster): Promise<Figure> {
	const [one] = cluster.nodes;
	if (one === undefined) throw new Error('The cluster has no node.');
	const deployment_id = await deployScripted(one.server, SCRIPT);
	const direct: number[] = [];
	const forwarded: number[] = [];
	for (let count = 0; count < CONVERSATIONS; count++) {
		const sent = await call(one.server, 'POST', '/api/v1/messages', { deployment_id, content: 'Hello' });
		const path = `/api/v1/conversations/${sent.conversation_id}/stop`;
		const owner = await cluster.ownerOf(sent.conversation_id);
		for (let repeat = 0; repeat < 4; repeat++) {
			for (const { server } of cluster.nodes) {
				const started = performance.now();
				await call(server, 'POST', path);
				// The first ones open connections.
				if (repeat > 0) (server === owner.server ? direct : forwarded).push(performance.now() - started);
			}
		}
	}
	const [ownerMs, otherMs] = [direct, forwarded].map((times) => percentileOf(times, 0.5)) as [number, number];
	return {
		...{ name: 'a forward adds, p50', unit: 'ms', value: once(otherMs - ownerMs) },
		remark: `${ownerMs.toFixed(2)} ms at the owner, ${otherMs.toFixed(2)} ms at the other node`,
	};
}

/** From the end of a node until another one answers for its conversations. */
async function measureTakeover(cluster: BenchCluster): Promise<Figure> {
	const times: number[] = [];
	for (let count = 0; count < TAKEOVERS; count++) {
		const [staying, ending] = cluster.nodes;
		if (staying === undefined || ending === undefined) throw new Error('The cluster has less than two nodes.');
		const deployment_id = await deployScripted(staying.server, SCRIPT);
		let conversation: string;
		do {
			const sent = await call(ending.server, 'POST', '/api/v1/messages', { deployment_id, content: 'Hello' });
			conversation = sent.conversation_id;
		} while ((await cluster.ownerOf(conversation)) !== ending);
		const killedAt = performance.now();
		await cluster.kill(ending);
		for (;;) {
			const answer = await staying.server.call('POST', `/api/v1/conversations/${conversation}/stop`);
			if (answer.status === 200) break;
			await sleep(ATTEMPT_MS);
		}
		times.push(performance.now() - killedAt);
		await cluster.add();
	}
	return {
		...{ name: 'takeover of a killed node', unit: 'ms', value: spreadOf(times) },
		goal: { is: 'at most', bound: MAX_TAKEOVER_MS },
		remark: 'until a conversation of the node is answered again',
	};
}
