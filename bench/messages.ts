/**
 * npm run bench -- messages [--profile FOLDER]
 *
 * Messages with server-sent events against a scripted model that speaks the chat-completions protocol: what Parley adds to
 * the model's own time to the first token at 1, 100 and 1,000 concurrent streams, messages a second with a model that
 * answers at once, and the memory of 10,000 idle streams. Server, model and load are processes of their own. Figures go to
 * .build/bench/messages.json too. Takes under three minutes.
 *
 * With --profile: only 100 streams, with the server's processor profile written to the folder.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { lengthOf, type ModelScript } from './load/model-script.ts';
import { type FirstTokenCase, measureFirstToken, type Players } from './messages/first-token.ts';
import { measureIdleStreams } from './messages/idle-streams.ts';
import { deploy, keepUp, messagesTo, startLoad, startModel, startServerOf } from './messages/stage.ts';
import { type MessageFigures, table } from './messages/table.ts';
import { measureThroughput } from './messages/throughput.ts';

const ONE: ModelScript = { firstMs: 5, everyMs: 5, tokens: 20 };
const FAST: ModelScript = { firstMs: 5, everyMs: 5, tokens: 200 };
/** As fast as people's providers are. */
const USUAL: ModelScript = { firstMs: 5, everyMs: 50, tokens: 60 };
const CASES: FirstTokenCase[] = [
	{ streams: 1, script: ONE, seconds: 3, rounds: 3 },
	{ streams: 100, script: FAST, seconds: 4, rounds: 3 },
	{ streams: 1000, script: FAST, seconds: 4, rounds: 2 },
	{ streams: 100, script: USUAL, seconds: 4, rounds: 2 },
	{ streams: 1000, script: USUAL, seconds: 4, rounds: 2 },
];
const PROFILED: FirstTokenCase = { streams: 100, script: FAST, seconds: 10, rounds: 1 };
const CONNECTIONS = 100;
const IDLE_STREAMS = 10_000;
const figuresFile = fileURLToPath(new URL('../.build/bench/messages.json', import.meta.url));

const { values } = parseArgs({ options: { profile: { type: 'string' } } });
const dataDir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
try {
	const load = loadavg()[0] as number;
	console.log(
		`${availableParallelism()} cores, shared by server, model and load; load average before: ${load.toFixed(2)}`,
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

async function measureAll(): Promise<MessageFigures> {
	using model = await startModel();
	using load = startLoad();
	const figures: MessageFigures = { firstToken: [], throughput: null, idle: null };
	let key: string;
	{
		await using server = await startServerOf(model, { dataDir });
		key = server.key;
		const players = { server, model, load };
		await warmUp(players);
		for (const each of CASES) figures.firstToken.push(await measureFirstToken(players, each));
		figures.throughput = await measureThroughput(players, { connections: CONNECTIONS, seconds: 4, rounds: 3 });
		await server.stop();
	}
	await using server = await startServerOf(model, { dataDir, key });
	figures.idle = await measureIdleStreams({ server, load }, IDLE_STREAMS);
	return figures;
}

async function profile(folder: string): Promise<MessageFigures> {
	using model = await startModel();
	using load = startLoad();
	const nodeOptions = ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', `'${folder}'`];
	await using server = await startServerOf(model, { dataDir, nodeOptions });
	const players = { server, model, load };
	await warmUp(players);
	const firstToken = [await measureFirstToken(players, PROFILED)];
	await server.stop();
	return { firstToken, throughput: null, idle: null };
}

/** Until the server's code is compiled for what is hot: a cold one takes several times as long for each token. */
async function warmUp({ server, load }: Players): Promise<void> {
	const deployment = await deploy(server, FAST);
	await keepUp(load, messagesTo(server, deployment, { streams: 50, spreadMs: lengthOf(FAST), seconds: 6 }));
}
