import { parseArgs } from 'node:util';
import { percentile } from '../soak/slope.ts';
import { type Round, rounds } from './rounds/index.ts';
import { replayCommand, runRound } from './run-round.ts';
import { type Figures, noFigures } from './world.ts';

const USAGE = `npm run torture [-- [options] [KIND|KIND:SEED …]]

Starts servers under a mixed load and kills, stops or damages them. KIND runs the rounds of one kind, KIND:SEED one round again.

  --seed N      the seed of the run (default: random); the seeds of its rounds follow from it
  --minutes N   repeat the rounds until the time is over (default: each round of the plan once)
  --short       as short as npm test runs it

Kinds:
${rounds.map(({ name, summary }) => `  ${name.padEnd(16)}${summary}`).join('\n')}
`;

const MAX_SEED = 2 ** 31;
/** A server is ready again within two seconds. Other work on the machine delays some starts, so the median is compared. */
const MAX_MEDIAN_START_MS = 2_000;

interface Planned {
	round: Round;
	seed: number;
}

async function main(): Promise<number> {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			seed: { type: 'string' },
			minutes: { type: 'string' },
			short: { type: 'boolean' },
			help: { type: 'boolean' },
		},
	});
	if (values.help) {
		process.stdout.write(USAGE);
		return 0;
	}
	const seed = values.seed === undefined ? Math.floor(Math.random() * MAX_SEED) : Number(values.seed);
	const minutes = values.minutes === undefined ? 0 : Number(values.minutes);
	if (!Number.isSafeInteger(seed) || !(minutes >= 0)) throw new Error('--seed and --minutes are numbers.');
	const length = values.short === true ? 'short' : 'long';
	const figures = noFigures();
	const failed: string[] = [];
	const began = performance.now();
	process.stdout.write(`torture: seed ${seed}\n`);
	for (let pass = 0; pass === 0 || performance.now() - began < minutes * 60_000; pass++) {
		for (const planned of await plan(positionals, seed + pass)) {
			if (minutes > 0 && performance.now() - began >= minutes * 60_000) break;
			if (!(await runPlanned(planned, length, figures))) failed.push(replayCommand(planned.round, planned.seed));
		}
		if (positionals.some((word) => word.includes(':'))) break;
	}
	report(figures, failed, (performance.now() - began) / 1_000);
	const isSlow = percentile(figures.startsMs, 0.5) > MAX_MEDIAN_START_MS;
	if (isSlow) process.stdout.write(`FAILED: half of the starts took more than ${MAX_MEDIAN_START_MS} ms.\n`);
	return failed.length === 0 && !isSlow ? 0 : 1;
}

/** The rounds to run. The kinds alternate, so that a run that is cut short has tried each. */
async function plan(words: readonly string[], seed: number): Promise<Planned[]> {
	const chosen: Planned[] = [];
	const kinds = words.length === 0 ? rounds.map(({ name }) => name) : words;
	for (const word of kinds) {
		const [name, given] = word.split(':');
		const round = rounds.find((each) => each.name === name);
		if (round === undefined) throw new Error(`There is no kind of round called ${name}.\n\n${USAGE}`);
		const reason = await round.skip();
		if (reason !== false) {
			process.stdout.write(`${round.name}: ${reason}\n`);
			continue;
		}
		if (given !== undefined) chosen.push({ round, seed: Number(given) });
		else for (let at = 0; at < round.rounds; at++) chosen.push({ round, seed: seedOf(seed, round.name, at) });
	}
	const position = ({ round, seed: own }: Planned) =>
		chosen.filter((each) => each.round === round).findIndex((each) => each.seed === own) / round.rounds;
	const positions = new Map(chosen.map((each) => [each, position(each)]));
	return chosen.sort((a, b) => (positions.get(a) as number) - (positions.get(b) as number));
}

function seedOf(seed: number, name: string, at: number): number {
	let hash = seed;
	for (const char of `${name} ${at}`) hash = (Math.imul(hash, 31) + (char.codePointAt(0) as number)) >>> 0;
	return hash % MAX_SEED;
}

async function runPlanned({ round, seed }: Planned, length: 'short' | 'long', figures: Figures): Promise<boolean> {
	const began = performance.now();
	const { error, folder } = await runRound(round, seed, round.repeats[length], figures);
	const seconds = ((performance.now() - began) / 1_000).toFixed(0);
	process.stdout.write(`${error === null ? 'ok    ' : 'FAILED'} ${round.name}:${seed} (${seconds} s)\n`);
	if (error === null) return true;
	process.stdout.write(`${error instanceof Error ? error.stack : error}\n`);
	process.stdout.write(`The data is in ${folder}. The round runs again with: ${replayCommand(round, seed)}\n`);
	return false;
}

function report(figures: Figures, failed: readonly string[], seconds: number): void {
	const lines: Array<[string, string | number]> = [
		['rounds', figures.rounds],
		['failed', failed.length],
		['minutes', (seconds / 60).toFixed(1)],
		['states checked', figures.starts],
		['changes acknowledged', figures.acknowledged],
		['values compared', figures.compared],
		['median of the starts', `${percentile(figures.startsMs, 0.5).toFixed(0)} ms`],
		['slowest start', `${Math.max(...figures.startsMs).toFixed(0)} ms`],
		['most processor time of a start', `${figures.slowestStartCpuMs} ms`],
		...Object.entries(figures.injected).sort(),
		...Object.entries(figures.waits)
			.sort()
			.map(([fault, ms]): [string, string] => [`longest wait for an answer: ${fault}`, `${ms.toFixed(0)} ms`]),
		...Object.entries(figures.refusals).map(([code, count]): [string, number] => [`refused with ${code}`, count]),
	];
	for (const [name, value] of lines) process.stdout.write(`${name.padEnd(56)}${value}\n`);
	for (const command of failed) process.stdout.write(`FAILED: ${command}\n`);
}

main().then(
	(code) => process.exit(code),
	(error: Error) => {
		process.stderr.write(`${error.message}\n`);
		process.exit(2);
	},
);
