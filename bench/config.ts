/**
 * npm run bench -- config [--short] [--profile FOLDER]
 *
 * Measures the widget's configuration over loopback, from a second process: the highest rate and the processor time of a request,
 * in turns with the bare HTTP library, which sends the same bytes, and with a conventional server; latencies at half of the highest
 * rate with 100 and 1,000 connections, against the specification's 300 ms at p95 (exits with 1 if that is missed); and the same with
 * 1, 1,000 and 100,000 deployments in the database. Takes about two minutes.
 *
 * With --short: one short round of each. With --profile: only the highest rate, and writes the server's CPU profile to the folder.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compareRates, type MeasurementPlan } from './config/compare-rates.ts';
import { measureLatencies } from './config/latencies.ts';
import { measureDeployments } from './config/many-deployments.ts';
import { measure } from './config/measure.ts';
import { startBareLibrary, startConventional, startParley } from './config/server-under-test.ts';
import { LOAD_CPU } from './load/cores.ts';
import { startGenerator } from './load/generator.ts';
import { spreadOf } from './load/spread.ts';
import { Report } from './report/report.ts';

const CONNECTIONS = 100;
const PROFILED_SECONDS = 10;

const { values } = parseArgs({ options: { short: { type: 'boolean' }, profile: { type: 'string' } } });
const plan: MeasurementPlan = values.short ? { rounds: 1, seconds: 1 } : { rounds: 3, seconds: 3 };
if (values.profile === undefined) await measureAll();
else await profile(resolve(values.profile));

async function measureAll(): Promise<void> {
	const report = new Report('config');
	using generator = startGenerator(LOAD_CPU);
	const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
	try {
		await using parley = await startParley(1);
		using baseline = await startConventional(folder);
		using ceiling = await startBareLibrary(parley);
		const { figures, highest } = await compareRates(generator, { parley, ceiling, baseline }, CONNECTIONS, plan);
		report.add(...figures);
		const half = Math.max(1, Math.floor(highest / 2));
		report.add(...(await measureLatencies(generator, parley, half, plan)));
		report.add(...(await measureDeployments(generator, parley, CONNECTIONS, plan)));
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
	await report.close();
}

async function profile(profiles: string): Promise<void> {
	using generator = startGenerator(LOAD_CPU);
	const nodeOptions = ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', `'${profiles}'`];
	await using parley = await startParley(1, nodeOptions);
	const round = await measure(generator, parley, { rate: null, seconds: PROFILED_SECONDS, connections: CONNECTIONS });
	const { median } = spreadOf([round.microsecondsEach]);
	console.log(`${Math.round(round.perSecond).toLocaleString('en')}/s, ${median.toFixed(1)} µs each`);
	await parley.server.stop();
}
