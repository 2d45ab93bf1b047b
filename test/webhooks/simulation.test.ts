import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** A seed that a failure names is played alone with `SEED=7 SEEDS=1`. */
const SEEDS = process.env.SEEDS ?? '50';

/**
 * Plays the simulations in a process without tests: the test runner tracks every promise, which takes several times as long as
 * the simulations themselves.
 */
async function play(): Promise<Record<string, number>> {
	const program = fileURLToPath(new URL('./simulation/play.ts', import.meta.url));
	const env = { ...process.env, SEEDS };
	const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program], { env });
	return JSON.parse(stdout);
}

test(`loses no event in ${SEEDS} simulations with failing receivers, changes by people and crashes`, async () => {
	const ends = await play();
	// A simulation in which nothing happens would satisfy every invariant.
	const least = Number(SEEDS) / 50;
	for (const [end, count] of Object.entries(ends)) assert.ok(count >= least, `${end}: only ${count}`);
	console.log(JSON.stringify(ends));
});
