/**
 * npm run bench -- micro
 *
 * Measures the smallest steps of the hot paths, each alone, with the server's own functions: the validation of a message, an actor's
 * mailbox, routing, chunking, the analysis of text, the embedding of a question, a model's answer, an SSE frame. Takes under half a
 * minute.
 */
import { Bench } from 'tinybench';
import { spreadOf } from './load/spread.ts';
import { createCountingActors, createSteps, type Step } from './micro/steps.ts';
import type { Figure } from './report/figure.ts';
import { Report } from './report/report.ts';

const ROUNDS = 3;
const ROUND_MS = 400;
const WARM_UP_MS = 150;

const report = new Report('micro');
await using actors = createCountingActors();
const steps = createSteps(actors);
const times = await measure(steps);
for (const { name, remark } of steps) {
	const micros = times.get(name) ?? [];
	const figure: Figure = { name, unit: 'µs', value: spreadOf(micros), ...(remark ? { remark } : {}) };
	report.add(figure, { name: `${name}, a second`, unit: '/s', value: spreadOf(micros.map((each) => 1e6 / each)) });
}
await report.close();

/** The microseconds that each step took, by its name: one value for each round. */
async function measure(steps: Step[]): Promise<Map<string, number[]>> {
	const times = new Map<string, number[]>(steps.map(({ name }) => [name, []]));
	for (let round = 0; round < ROUNDS; round++) {
		const bench = new Bench({ time: ROUND_MS, warmupTime: round === 0 ? 2 * WARM_UP_MS : WARM_UP_MS, throws: true });
		for (const { name, work } of steps) bench.add(name, work);
		await bench.run();
		for (const { name, repeats } of steps) {
			const result = bench.getTask(name)?.result;
			if (result?.state !== 'completed') throw new Error(`${name} was not measured: ${result?.state}.`);
			// The median: on a shared machine the mean depends on other processes.
			times.get(name)?.push((result.latency.p50 * 1000) / repeats);
		}
	}
	return times;
}
