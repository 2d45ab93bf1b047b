import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../../test/support/server-process.ts';
import type { BaselineCommand, BaselineReady } from '../baseline/process.ts';
import { startLoadProcess } from '../load/load-process.ts';
import { processorTime } from '../load/processor-time.ts';
import type { Requester, RequestLoad } from '../load/requester.ts';
import { spreadOf } from '../load/spread.ts';
import type { Figure, ServerName } from '../report/figure.ts';
import type { ManyConversations } from './many-conversations.ts';

const CONNECTIONS = 32;
const START_TIMEOUT_MS = 15_000;
const READ_CONVERSATIONS = 1_000;
/** More requests than fit into the time. */
const CHANGED_CONVERSATIONS = 5_000;

/** A kind of request to one server. */
interface Case {
	name: string;
	who: ServerName;
	server: { port: number; key: string; pid: number };
	/** The requests of a round. Writes differ in each round. */
	requests: () => RequestLoad['requests'];
}

interface Round {
	perSecond: number;
	p50: number;
	p95: number;
	processorMsEach: number | null;
}

/**
 * Measures creates and reads of the API over 32 connections: the rate if each connection sends as soon as it has its response, and the
 * latencies at a fixed rate of half of that. The conventional server gets the same creates in turns.
 */
export async function measureRest(
	data: ManyConversations,
	requester: Requester,
	{ seconds, rounds }: { seconds: number; rounds: number },
): Promise<Figure[]> {
	await using server = await startServer({ dataDir: data.dataDir, key: data.key });
	await using baseline = await startBaseline(data.key);
	const assistant = { name: 'Bench', model: 'builtin/extractive', master_prompt: 'You help the customers of a shop.' };
	const create = [{ method: 'POST', path: '/api/v1/assistants', body: assistant }];
	const conversations = data.conversations.slice(0, READ_CONVERSATIONS).map((id) => get(`/api/v1/conversations/${id}`));
	const messages = conversations.map(({ path }) => get(`${path}/messages`));
	const parley = { who: 'parley', server } as const;
	const cases: Case[] = [
		{ name: 'creating assistants', ...parley, requests: () => create },
		{ name: 'creating assistants', who: 'baseline', server: baseline, requests: () => create },
		{
			name: 'changing conversations',
			...parley,
			requests: () => changes(data.conversations.slice(0, CHANGED_CONVERSATIONS)),
		},
		{ name: 'reading an assistant', ...parley, requests: () => [get(`/api/v1/assistants/${data.assistant}`)] },
		{ name: 'reading conversations', ...parley, requests: () => conversations },
		{ name: 'listing messages', ...parley, requests: () => messages },
	];
	const seen = new Map<Case, Round[]>(cases.map((one) => [one, []]));
	for (const { server: of, requests } of cases) {
		await requester.run(of, { requests: requests(), connections: CONNECTIONS, seconds });
	}
	for (let round = 0; round < rounds; round++) {
		for (const [one, all] of seen) all.push(await measure(requester, one, seconds));
	}
	return [...seen].map(([one, all]) => figureOf(one, all));
}

async function measure(requester: Requester, { server, requests }: Case, seconds: number): Promise<Round> {
	const before = processorTime(server.pid);
	const most = await requester.run(server, { requests: requests(), connections: CONNECTIONS, seconds });
	const after = processorTime(server.pid);
	const perSecond = most.answered / most.seconds;
	const rate = Math.max(1, Math.round(perSecond / 2));
	const half = await requester.run(server, { requests: requests(), connections: CONNECTIONS, seconds, rate });
	const used = before === null || after === null ? null : ((after - before) * 1000) / most.answered;
	return { perSecond, p50: half.p50, p95: half.p95, processorMsEach: used };
}

function figureOf({ name, who }: Case, all: readonly Round[]): Figure {
	const p50 = spreadOf(all.map((round) => round.p50)).median;
	const p95 = spreadOf(all.map((round) => round.p95)).median;
	const used = all.map((round) => round.processorMsEach).filter((ms) => ms !== null);
	const processor = used.length === 0 ? '' : `, ${spreadOf(used).median.toFixed(3)} ms of processor time each`;
	return {
		name,
		unit: '/s',
		value: spreadOf(all.map((round) => round.perSecond)),
		who,
		remark: `at half of it p50 ${p50.toFixed(2)} ms, p95 ${p95.toFixed(2)} ms${processor}`,
	};
}

function get(path: string): RequestLoad['requests'][number] {
	return { method: 'GET', path };
}

let serial = 0;

/** A change of each to a new value: a change to the current value writes nothing. */
function changes(conversations: readonly string[]): RequestLoad['requests'] {
	serial++;
	return conversations.map((id) => ({
		method: 'PATCH',
		path: `/api/v1/conversations/${id}`,
		body: { metadata: { serial: String(serial) } },
	}));
}

/** Starts the conventional server. */
async function startBaseline(key: string) {
	const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
	const child = startLoadProcess<BaselineCommand, BaselineReady>(new URL('../baseline/process.ts', import.meta.url));
	const { port } = await child.send({ file: join(folder, 'baseline.db'), key, modelUrl: null }, START_TIMEOUT_MS);
	return {
		port,
		key,
		pid: child.pid,
		async [Symbol.asyncDispose]() {
			child[Symbol.dispose]();
			await rm(folder, { recursive: true, force: true });
		},
	};
}
