import { describe, test } from 'node:test';
import { rounds } from './rounds/index.ts';
import { replayCommand, runRound } from './run-round.ts';
import { noFigures } from './world.ts';

/** `npm run torture` takes a random one. */
const SEED = 41;

const skips = await Promise.all(rounds.map((round) => round.skip()));

// The short form of `npm run torture`: one round of each kind. Servers often wait for a disk or a process.
describe('one round of each kind', { concurrency: 3 }, () => {
	for (const [at, round] of rounds.entries()) {
		const skip = skips[at] as string | false;
		test(`nothing acknowledged is lost or doubled: ${round.summary}`, { skip }, async (t) => {
			const seed = SEED + at;
			const figures = noFigures();
			const { error, folder } = await runRound(round, seed, round.repeats.short, figures);
			t.diagnostic(`${figures.acknowledged} changes acknowledged, ${figures.compared} values compared`);
			for (const [fault, ms] of Object.entries(figures.waits)) {
				t.diagnostic(`longest wait of a client for its answer: ${ms.toFixed(0)} ms (${fault})`);
			}
			if (error === null) return;
			throw new Error(`The data is in ${folder}. The round runs again with: ${replayCommand(round, seed)}`, {
				cause: error,
			});
		});
	}
});
