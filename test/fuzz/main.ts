// A program: fuzzes the targets that are named, or all of them. scripts/fuzz.mjs starts it.
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fuzz } from './run-target.ts';
import { TARGETS } from './targets/index.ts';

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		seconds: { type: 'string' },
		runs: { type: 'string' },
		seed: { type: 'string' },
		path: { type: 'string' },
	},
});

/** An option that is a whole number. */
function numberOf(name: 'seconds' | 'runs' | 'seed'): number | undefined {
	const text = values[name];
	if (text === undefined) return undefined;
	if (!/^-?\d{1,12}$/.test(text)) throw new Error(`--${name} needs a whole number.`);
	return Number(text);
}

const names = TARGETS.map(({ name }) => name);
const unknown = positionals.filter((name) => !names.includes(name));
if (unknown.length > 0) {
	console.error(`There is no target ${unknown.join(', ')}. There are: ${names.join(', ')}.`);
	process.exit(1);
}
const seed = numberOf('seed') ?? randomInt(2 ** 31);
const folder = fileURLToPath(new URL('../../.build/fuzz/', import.meta.url));
let failed = 0;
for (const target of TARGETS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
	if (target.skip !== false) {
		console.log(`${target.name}: skipped. ${target.skip}`);
		continue;
	}
	// Printed first: a target that ends the process or never returns is repeated with the same seed.
	console.log(`${target.name}: seed ${seed} …`);
	const runs = numberOf('runs');
	const seconds = numberOf('seconds') ?? (runs === undefined && values.path === undefined ? 30 : undefined);
	const outcome = await fuzz(target, {
		seed,
		folder,
		...(runs === undefined ? {} : { runs }),
		...(seconds === undefined ? {} : { seconds }),
		...(values.path === undefined ? {} : { path: values.path }),
	});
	if (outcome.failure !== null) failed++;
	console.log(outcome.failure ?? `${target.name}: ${outcome.runs} inputs, no failure`);
}
process.exit(failed === 0 ? 0 : 1);
