/**
 * npm run bench -- messages [--profile FOLDER] [--case WORDS] [--short]
 *
 * Measures streamed messages against a scripted model with the chat-completions protocol: first token, whole reply, rate, processor time
 * and memory. In turns with the message ceiling, which does the least work on the same libraries (asking the model after the commit of
 * the question, or during it), and with a conventional server. Then the memory of 10,000 idle streams. Servers run on one core, model and
 * load on another. Takes about ten minutes.
 *
 * With --case: only cases whose name has the words, without memory. With --short: one round of each. With --profile: only Parley, in the
 * first case that --case names (100 connections by default), and writes the server's CPU profile to the folder.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startBaseline } from './baseline/index.ts';
import { startMessageCeilingProcess } from './ceiling/messages/index.ts';
import { LOAD_CPU, pin, SERVER_CPU } from './load/cores.ts';
import { durationOf } from './load/model-script.ts';
import { CASES, type MessageCase, profiledCase } from './messages/cases.ts';
import { caseFigures, ceilingFigures } from './messages/figures.ts';
import { measureIdleStreams } from './messages/idle-streams.ts';
import { measureCase } from './messages/measure.ts';
import { forgetPeak, memoryFigures } from './messages/memory.ts';
import {
	type BenchProcesses,
	type ServerUnderTest,
	startLoad,
	startModel,
	startServerWithModel,
	warmUp,
} from './messages/processes.ts';
import { Report } from './report/report.ts';

const IDLE_STREAMS = 10_000;
/** Multiples of the baseline's rate that make a ceiling, by connections. */
const CEILING_BOUNDS = new Map([
	[10, 1.35],
	[100, 1.1],
]);

const { values } = parseArgs({
	options: { profile: { type: 'string' }, case: { type: 'string' }, short: { type: 'boolean', default: false } },
});
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
	const words = values.case;
	const cases = CASES.filter(({ name }) => words === undefined || name.includes(words));
	const report = new Report('messages');
	using model = await startModel(LOAD_CPU);
	using load = startLoad(LOAD_CPU);
	const stage = { model, load };
	const key = await compare(report, stage, cases);
	if (words === undefined) {
		// A new server, for its memory.
		await using server = await startServerWithModel(model, { dataDir, key });
		report.add(await measureIdleStreams(server, stage, IDLE_STREAMS));
	}
	await report.close();
}

/** @returns the key of the data folder */
async function compare(report: Report, stage: BenchProcesses, cases: readonly MessageCase[]): Promise<string> {
	const modelPort = stage.model.port;
	const ceilingFile = (name: string) => join(folder, `${name}.db`);
	await using server = await startServerWithModel(stage.model, { dataDir });
	pin(server.pid, SERVER_CPU);
	using baseline = await startBaseline(folder, modelPort, SERVER_CPU);
	using ceiling = await startMessageCeilingProcess(
		{ file: ceilingFile('ceiling'), modelPort, asksEarly: false },
		SERVER_CPU,
	);
	using early = await startMessageCeilingProcess(
		{ file: ceilingFile('early'), modelPort, asksEarly: true },
		SERVER_CPU,
	);
	const parley: ServerUnderTest = { ...server, who: 'parley' };
	const others: ServerUnderTest[] = [
		{ ...baseline, who: 'baseline' },
		{ ...ceiling, who: 'ceiling' },
		{ ...early, who: 'early ceiling' },
	];
	for (const each of [parley, ...others]) await warmUp(stage.load, each);
	forgetPeak(server.pid);
	for (const each of cases) {
		const result = await measureCase(stage, each.isCompared ? [parley, ...others] : [parley], {
			...each,
			...(values.short ? { rounds: 1 } : {}),
		});
		report.add(...caseFigures(each, result));
		const bound = CEILING_BOUNDS.get(each.streams);
		if (bound !== undefined && durationOf(each.script) === 0) report.add(...ceilingFigures(each, result, bound));
	}
	if (values.case === undefined) report.add(...(await memoryFigures(server.pid)));
	await server.stop();
	return server.key;
}

async function profile(profiles: string): Promise<void> {
	const report = new Report('messages-profile');
	using model = await startModel(LOAD_CPU);
	using load = startLoad(LOAD_CPU);
	const nodeOptions = ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', `'${profiles}'`];
	await using server = await startServerWithModel(model, { dataDir, nodeOptions });
	pin(server.pid, SERVER_CPU);
	const parley: ServerUnderTest = { ...server, who: 'parley' };
	await warmUp(load, parley);
	const profiled = profiledCase(values.case);
	report.add(...caseFigures(profiled, await measureCase({ model, load }, [parley], profiled)));
	await server.stop();
	await report.close();
}
