// Plants each fault of test/simulation/mutations in the server, and searches for a seed whose simulation finds it.
import { availableParallelism } from 'node:os';
import { mutations, USUAL_SEEDS } from '../test/simulation/mutations/index.mjs';
import { say, UserError } from './project.mjs';
import { bundleSimulation, playSeeds } from './simulation.mjs';

/** Plays one seed with a planted fault, and prints its trace. @returns the exit code: 1 where the seed finds it */
export async function playMutation(words, seed) {
	const [mutation, ...others] = mutationsNamed(words);
	if (others.length > 0) throw new UserError(`One seed plays one fault, not ${others.length + 1}: name more of it.`);
	const program = await bundleSimulation(mutation);
	const args = ['--seed', seed, '--nodes', String(mutation.nodes ?? 1)];
	return (await playSeeds(program, args, { prints: true })).code;
}

/**
 * The faults whose names have one of the words. A word that is the whole name of a fault selects this one only: the name may be part of
 * another's.
 */
export function mutationsNamed(words, all = mutations) {
	if (words.length === 0) return all;
	const names = new Set(all.map(({ name }) => name));
	const chosen = all.filter(({ name }) =>
		words.some((word) => (names.has(word) ? name === word : name.includes(word))),
	);
	if (chosen.length === 0) throw new UserError(`No fault has a name with ${words.join(' or ')}.`);
	return chosen;
}

/**
 * What the program with a planted fault has found: the broken rule with its seed; null for none, also where the program itself has crashed,
 * whatever its exit code.
 */
export function brokenRule({ code, output }) {
	const [, seed, rule] = /^Seed (\d+) broke a rule: (.*)/m.exec(output) ?? [];
	return code === 0 || seed === undefined ? null : { seed: Number(seed), rule };
}

/** @param words names of faults, or parts of them; none: all faults. @returns the exit code: 1 where a fault is not found */
export async function playMutations(words) {
	const chosen = mutationsNamed(words);
	const missed = [];
	const waiting = [...chosen];
	const work = async () => {
		for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
			const { name, seeds = USUAL_SEEDS, nodes = 1 } = mutation;
			const program = await bundleSimulation(mutation);
			const played = await playSeeds(program, ['--seeds', String(seeds), '--nodes', String(nodes)]);
			const found = brokenRule(played);
			if (found === null) {
				missed.push(name);
				const end = played.code === 0 ? '' : `, and the program has crashed with exit code ${played.code}`;
				say(`not found in ${seeds} seeds${end}: ${name}`);
				continue;
			}
			say(`found by seed ${found.seed}: ${name} (${found.rule.slice(0, 140)})`);
			say(`  Replay it with: npm run simulate -- --mutations '${name}' --seed ${found.seed}`);
		}
	};
	await Promise.all(Array.from({ length: availableParallelism() }, work));
	if (missed.length === 0) {
		say(`All ${chosen.length} faults are found.`);
		return 0;
	}
	say(`${missed.length} of ${chosen.length} faults are not found: ${missed.join('; ')}.`);
	return 1;
}
