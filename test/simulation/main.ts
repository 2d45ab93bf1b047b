// A program: plays simulations of conversations. `npm run simulate` bundles and starts it.
//   --seed N            one simulation, with its trace
//   --seeds N           N simulations
//   --from N            the first seed; 1 by default
//   --nodes N           1 or 2 processes on one database; by default each fourth seed has two
//   --hashes            prints the hash of each seed's trace
import { parseArgs } from 'node:util';
import { simulate } from './simulation.ts';

const { values } = parseArgs({
	options: {
		seed: { type: 'string' },
		seeds: { type: 'string', default: '200' },
		from: { type: 'string', default: '1' },
		nodes: { type: 'string' },
		hashes: { type: 'boolean', default: false },
	},
});

const nodes = values.nodes === undefined ? undefined : values.nodes === '2' ? 2 : 1;
if (values.seed === undefined) await playMany(Number(values.from), Number(values.seeds));
else await playOne(Number(values.seed));

async function playOne(seed: number): Promise<void> {
	const { violation, traceHash, steps } = await simulate(seed, { nodes, onTrace: (line) => console.log(line) });
	console.log(`Seed ${seed}: ${steps} steps, trace ${traceHash}`);
	if (violation === null) return;
	console.log(violation.stack);
	process.exitCode = 1;
}

async function playMany(first: number, count: number): Promise<void> {
	const totals = { seeds: 0, steps: 0, messages: 0, processes: 0, faults: 0 };
	for (let seed = first; seed < first + count; seed++) {
		const { violation, steps, traceHash, totals: found } = await simulate(seed, { nodes });
		if (values.hashes) console.log(`Seed ${seed}: trace ${traceHash}`);
		if (violation !== null) {
			console.log(JSON.stringify(totals));
			console.log(`Seed ${seed} broke a rule: ${violation.stack}`);
			const option = nodes === undefined ? '' : ` --nodes ${nodes}`;
			console.log(`Replay it with: npm run simulate -- --seed ${seed}${option}`);
			process.exitCode = 1;
			return;
		}
		totals.seeds++;
		totals.steps += steps;
		totals.messages += found.messages;
		totals.processes += found.processes;
		totals.faults += found.faults;
	}
	console.log(JSON.stringify(totals));
}
