// npm run simulate: plays simulations of conversations, each of which its seed decides. See CONTRIBUTING.md.
//   npm run simulate                        200 seeds
//   npm run simulate -- --seeds 10000       more of them, in several processes; --from N begins with another seed
//   npm run simulate -- --seed 7            one seed, with its trace
//   npm run simulate -- --nodes 2           two nodes of a cluster, in all seeds; 1: none of them; by default each fourth seed has two
//   npm run simulate -- --seeds 9 --hashes  the hash of the trace of each seed
//   npm run simulate -- --mutations         plants each fault of test/simulation/mutations, and searches for a seed that finds it;
//                                           words select faults by their names; with --seed N, one fault is played with its trace
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './install.mjs';
import { isEntry, main, say, UserError } from './project.mjs';
import { bundleSimulation, playSeeds, removeSimulations } from './simulation.mjs';

/** Seeds that one process plays before it takes the next ones. */
const PORTION = 250;

if (isEntry(import.meta.url)) {
	await main(async () => {
		const { values, positionals } = parseArgs({
			allowPositionals: true,
			options: {
				seed: { type: 'string' },
				seeds: { type: 'string', default: '200' },
				from: { type: 'string', default: '1' },
				nodes: { type: 'string' },
				hashes: { type: 'boolean', default: false },
				mutations: { type: 'boolean', default: false },
			},
		});
		await ensureInstalled();
		try {
			if (values.mutations) {
				const { playMutation, playMutations } = await import('./simulation-mutations.mjs');
				if (values.seed !== undefined) return await playMutation(positionals, values.seed);
				return await playMutations(positionals);
			}
			const nodes = values.nodes === undefined ? [] : ['--nodes', oneOrTwo(values.nodes)];
			const program = await bundleSimulation();
			if (values.hashes) {
				const args = ['--from', values.from, '--seeds', values.seeds, '--hashes', ...nodes];
				return (await playSeeds(program, args, { prints: true })).code;
			}
			if (values.seed !== undefined) {
				return (await playSeeds(program, ['--seed', values.seed, ...nodes], { prints: true })).code;
			}
			return await playPortions(program, nodes, numberOf(values.from), numberOf(values.seeds));
		} finally {
			removeSimulations();
		}
	});
}

/** Divides the seeds among processes. @returns the exit code */
async function playPortions(program, nodes, from, count) {
	const started = performance.now();
	const totals = {};
	let next = from;
	let failed = null;
	const work = async () => {
		while (failed === null && next < from + count) {
			const first = next;
			next = Math.min(first + PORTION, from + count);
			const {
				totals: played,
				code,
				output,
			} = await playSeeds(program, ['--from', String(first), '--seeds', String(next - first), ...nodes]);
			for (const [name, number] of Object.entries(played)) totals[name] = (totals[name] ?? 0) + number;
			if (code !== 0) failed ??= output;
		}
	};
	await Promise.all(Array.from({ length: availableParallelism() }, work));
	if (failed !== null) {
		console.error(failed);
		return 1;
	}
	const seconds = ((performance.now() - started) / 1000).toFixed(1);
	say(`${totals.seeds} seeds kept all rules, in ${seconds} s: ${JSON.stringify(totals)}`);
	return 0;
}

function oneOrTwo(text) {
	if (text !== '1' && text !== '2') throw new UserError(`The simulations have 1 or 2 nodes, not '${text}'.`);
	return text;
}

function numberOf(text) {
	const number = Number(text);
	if (!Number.isSafeInteger(number) || number < 0) throw new UserError(`'${text}' is no whole number.`);
	return number;
}
