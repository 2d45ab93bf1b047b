import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { withDeadline } from '../../src/base/index.ts';
import type { AnyFuzzTarget } from './target.ts';

export interface FuzzOptions {
	seed: number;
	/** The number of inputs. Absent: as many as the time allows. */
	runs?: number;
	/** Seconds after which no further input begins. */
	seconds?: number;
	/** Where in the inputs of the seed the failing one is, as an earlier run has printed it. */
	path?: string;
	/** The folder for failing inputs. */
	folder: string;
}

export interface FuzzOutcome {
	runs: number;
	/** Describes the failing input, the smallest one found; null if there is none. */
	failure: string | null;
}

/** Time for making a failing input smaller. */
const SHRINK_MS = 60_000;

/** Gives inputs to a target until one fails, the runs are done or the time is over. A failing input is made smaller and saved. */
export async function fuzz(
	target: AnyFuzzTarget,
	{ seed, runs, seconds, path, folder }: FuzzOptions,
): Promise<FuzzOutcome> {
	await using session = await target.open();
	let failedAt: number | undefined;
	let count = 0;
	let lastInput: unknown;
	let lastRun: Promise<void> = Promise.resolve();
	const property = fc.asyncProperty(target.inputs, async (input) => {
		if (failedAt !== undefined && performance.now() - failedAt > SHRINK_MS) return;
		count++;
		try {
			lastInput = input;
			lastRun = session.run(input);
			await lastRun;
		} catch (error) {
			failedAt ??= performance.now();
			throw error;
		}
	});
	const details = await fc.check(property, {
		seed,
		numRuns: runs ?? Number.MAX_SAFE_INTEGER,
		timeout: target.deadlineMs,
		...(path === undefined ? {} : { path, endOnFailure: true }),
		...(seconds === undefined ? {} : { interruptAfterTimeLimit: seconds * 1000 }),
	});
	const failure = (input: unknown, error: unknown, place: string) =>
		describeFailure(target, input, error, `--seed ${seed} ${place}`, join(folder, `${target.name}-${seed}`));
	if (details.failed && details.counterexample !== null) {
		const [input] = details.counterexample;
		const place = `--path ${details.counterexamplePath}`;
		return { runs: count, failure: await failure(input, details.errorInstance, place) };
	}
	try {
		// The library does not wait for the input that runs when the time is over.
		await withDeadline(lastRun, target.deadlineMs, () => new Error('The last input hangs.'));
	} catch (error) {
		return { runs: count, failure: await failure(lastInput, error, `--runs ${count}`) };
	}
	return { runs: count, failure: null };
}

/** Saves the input. @returns the error, the file and the command that repeats it */
async function describeFailure(
	target: AnyFuzzTarget,
	input: unknown,
	error: unknown,
	place: string,
	path: string,
): Promise<string> {
	const file = await saveInput(target, input, path);
	const reason = error instanceof Error ? error.stack : String(error);
	return `${target.name}: ${reason}\nInput: ${file}\nReplay: npm run fuzz -- ${target.name} ${place}`;
}

/** Saves the input as JSON, and its bytes as a file beside it. @returns the path of the most useful one */
async function saveInput(target: AnyFuzzTarget, input: unknown, path: string): Promise<string> {
	await mkdir(join(path, '..'), { recursive: true });
	await writeFile(`${path}.json`, `${JSON.stringify(input, null, '\t')}\n`);
	const file = target.fileOf?.(input);
	if (file === undefined) return `${path}.json`;
	await writeFile(`${path}.${file.extension}`, file.bytes);
	return `${path}.${file.extension}`;
}
