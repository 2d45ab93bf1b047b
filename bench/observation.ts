/**
 * npm run bench -- observation [--short]
 *
 * What metrics and traces cost a streamed message. Two servers get the same load in turns: the metrics of the second are read each
 * second. A third one records the traces of every other round and sends them to a collector. Servers run on one core; model, load
 * and collector on another. What it costs to count a message, which every server does, is measured alone. Takes about five minutes.
 */
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AsyncDisposableStack } from '../src/base/index.ts';
import { LOAD_CPU, pin, SERVER_CPU } from './load/cores.ts';
import { CASES } from './messages/cases.ts';
import { measureCase } from './messages/measure.ts';
import { type ServerUnderTest, startLoad, startModel, startServerWithModel, warmUp } from './messages/processes.ts';
import { MOST_PERCENT, observationFigures } from './observation/figures.ts';
import { microsToCountMessage } from './observation/message-metrics.ts';
import { costOfTraces } from './observation/traces.ts';
import { Report } from './report/report.ts';

/** Pairs of rounds, with and without recorded traces. */
const TRACE_PAIRS = 40;

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false } } });
const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
try {
	await measure();
} finally {
	await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
	const report = new Report('observation');
	// The collector and the reader of metrics are in this process.
	pin(process.pid, LOAD_CPU);
	await using collector = await startCollector();
	using model = await startModel(LOAD_CPU);
	using load = startLoad(LOAD_CPU);
	await using servers = new AsyncDisposableStack();
	const start = async (name: string, env: Record<string, string> = {}): Promise<ServerUnderTest> => {
		const dataDir = join(folder, name);
		await mkdir(dataDir);
		const server = servers.use(await startServerWithModel(model, { dataDir, env }));
		pin(server.pid, SERVER_CPU);
		return { ...server, who: 'parley' };
	};
	const observed = [
		{ name: 'not observed', server: await start('plain') },
		{ name: 'metrics read each second', server: await start('metrics') },
	];
	const traced = await start('traces', {
		OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
		OTEL_TRACES_SAMPLER: 'parentbased_always_off',
	});
	await warmUp(load, traced);
	for (const { server } of observed) await warmUp(load, server);
	using _reader = readMetricsEachSecond((observed[1] as (typeof observed)[number]).server);
	const countMicros = microsToCountMessage();
	for (const each of CASES.filter(({ name }) => /^100? connections, instant/.test(name))) {
		const given = { ...each, rounds: values.short ? 1 : 8 };
		const servers = observed.map(({ server }) => server);
		const result = await measureCase({ model, load }, servers, given);
		const names = observed.map(({ name }) => name);
		report.add(...observationFigures(each.name, names, result, countMicros));
		report.add({
			name: `${each.name}, every trace: processor time added`,
			unit: '%',
			value: await costOfTraces({ model, load }, traced, each, values.short ? 1 : TRACE_PAIRS),
			goal: { is: 'at most', bound: MOST_PERCENT },
		});
	}
	report.add({ name: 'requests with spans that the collector got', unit: '', value: collector.requests() });
	await report.close();
}

/** Reads the figures as Prometheus does. */
function readMetricsEachSecond({ port, key }: ServerUnderTest): Disposable {
	const timer = setInterval(() => {
		fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${key}` } }).then(
			(response) => response.text(),
			() => {},
		);
	}, 1_000);
	return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** A collector that counts requests and reads nothing of them. */
async function startCollector() {
	let requests = 0;
	const server = createServer((request, response) => {
		requests++;
		request.resume().on('end', () => response.writeHead(200).end());
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		requests: () => ({ median: requests, lowest: requests, highest: requests }),
		async [Symbol.asyncDispose]() {
			server.closeAllConnections();
			server.close();
		},
	};
}
