/**
 * npm run bench -- messages [--profile FOLDER]
 *
 * Measures streamed messages against a scripted model with the chat-completions protocol: what Parley adds to the model's own time
 * to the first token at 1, 100 and 1,000 concurrent streams, messages a second with a model that answers at once, and the memory of
 * 10,000 idle streams. A conventional server gets the same load in turns. Servers, model and load are separate processes. Takes
 * under three minutes.
 *
 * With --profile: only 100 streams, and writes the server's CPU profile to the folder.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startBaseline } from './baseline/index.ts';
import { durationOf, type ModelScript } from './load/model-script.ts';
import {
	type BenchProcesses,
	type FirstTokenCase,
	measureFirstToken,
	type ServerUnderTest,
} from './messages/first-token.ts';
import { measureIdleStreams } from './messages/idle-streams.ts';
import {
	deployScripted,
	messagesTo,
	startLoad,
	startModel,
	startServerWithModel,
	sustainStreams,
} from './messages/processes.ts';
import { measureThroughput } from './messages/throughput.ts';
import { Report } from './report/report.ts';
import { table } from './report/table.ts';

const ONE_STREAM_SCRIPT: ModelScript = { firstTokenMs: 5, tokenIntervalMs: 5, tokens: 20 };
const FAST_SCRIPT: ModelScript = { firstTokenMs: 5, tokenIntervalMs: 5, tokens: 200 };
/** About as fast as real providers. */
const TYPICAL_SCRIPT: ModelScript = { firstTokenMs: 5, tokenIntervalMs: 50, tokens: 60 };
/** The cases in which the baseline is measured too. */
const COMPARED_CASES: FirstTokenCase[] = [
	{ streams: 100, script: FAST_SCRIPT, seconds: 3, rounds: 3, goal: { is: 'at most', bound: 3 } },
];
const PARLEY_ONLY_CASES: FirstTokenCase[] = [
	{ streams: 1, script: ONE_STREAM_SCRIPT, seconds: 2, rounds: 3 },
	{ streams: 1000, script: FAST_SCRIPT, seconds: 3, rounds: 2 },
	{ streams: 1000, script: TYPICAL_SCRIPT, seconds: 4, rounds: 1 },
];
const PROFILED_CASE: FirstTokenCase = { streams: 100, script: FAST_SCRIPT, seconds: 10, rounds: 1 };
const THROUGHPUT = { connections: 100, seconds: 3, rounds: 3 };
const IDLE_STREAMS = 10_000;

const { values } = parseArgs({ options: { profile: { type: 'string' } } });
const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
const dataDir = join(folder, 'parley');
await mkdir(dataDir);
try {
	if (values.profile === undefined) await measureAll();
	else await profile(resolve(values.profile));
} finally {
	await rm(folder, { recursive: true, force: true });
}

async function measureAll(): Promise<void> {
	const report = new Report('messages');
	using model = await startModel();
	using load = startLoad();
	const stage = { model, load };
	const key = await compare(report, stage);
	// A new server, for its memory.
	await using server = await startServerWithModel(model, { dataDir, key });
	report.add(await measureIdleStreams(server, stage, IDLE_STREAMS));
	await report.close();
}

/** @returns the key of the data folder */
async function compare(report: Report, stage: BenchProcesses): Promise<string> {
	await using server = await startServerWithModel(stage.model, { dataDir });
	using conventional = await startBaseline(folder, stage.model.port);
	const parley: ServerUnderTest = { ...server, who: 'parley' };
	const baseline: ServerUnderTest = { ...conventional, who: 'baseline' };
	for (const each of [parley, baseline]) await warmUp(stage, each);
	for (const each of COMPARED_CASES) report.add(...(await measureFirstToken(stage, [parley, baseline], each)));
	for (const each of PARLEY_ONLY_CASES) report.add(...(await measureFirstToken(stage, [parley], each)));
	report.add(...(await measureThroughput(stage, [parley, baseline], THROUGHPUT)));
	await server.stop();
	return server.key;
}

async function profile(profiles: string): Promise<void> {
	using model = await startModel();
	using load = startLoad();
	const nodeOptions = ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', `'${profiles}'`];
	await using server = await startServerWithModel(model, { dataDir, nodeOptions });
	const parley: ServerUnderTest = { ...server, who: 'parley' };
	await warmUp({ model, load }, parley);
	const figures = await measureFirstToken({ model, load }, [parley], PROFILED_CASE);
	console.log(table([{ part: 'messages', at: '', seconds: 0, figures }]));
	await server.stop();
}

/** Until the hot code is compiled: a cold server takes several times as long for each token. */
async function warmUp({ load }: BenchProcesses, contestant: ServerUnderTest): Promise<void> {
	const deployment = await deployScripted(contestant, FAST_SCRIPT);
	await sustainStreams(
		load,
		messagesTo(contestant, deployment, { streams: 50, spreadMs: durationOf(FAST_SCRIPT), seconds: 6 }),
	);
}
