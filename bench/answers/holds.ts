import type { ExtractiveRequest } from '../../src/extractive/index.ts';
import { answerSteps, YIELD_AFTER_MS } from '../../src/extractive/training/index.ts';
import { percentileOf } from '../load/spread.ts';
import { type Figure, once } from '../report/figure.ts';
import type { QuestionSet } from './question-sets.ts';
import { READ_PASSAGES } from './training/local-assistant.ts';
import { LocalBase } from './training/local-base.ts';

/** Each answer is made this often. The other work of the machine lengthens some, so the shortest time of each hold counts. */
const REPEATS = 5;
/** Milliseconds that an answer may hold the main thread. */
const MAX_HOLD_MS = 5;

/** The longest time that the answer to each question of the sets held the main thread, in milliseconds. */
export async function measureHolds(sets: readonly QuestionSet[]): Promise<number[]> {
	const holds: number[] = [];
	for (const { documents, questions } of sets) {
		await using base = await LocalBase.create(documents);
		for (const { question } of questions) holds.push(longestHold(await base.request(question, [], READ_PASSAGES)));
	}
	return holds;
}

/** @param name begins the name of each figure */
export function holdFigures(name: string, holds: readonly number[]): Figure[] {
	if (holds.length === 0) return [];
	const figure = (part: string, value: number): Figure => ({
		name: `${name}: main thread held, ${part}`,
		unit: 'ms',
		value: once(value),
		goal: { is: 'at most', bound: MAX_HOLD_MS },
		remark: `${holds.length} answers`,
	});
	return [figure('99th percentile', percentileOf(holds, 0.99)), figure('longest', Math.max(...holds))];
}

function longestHold(request: ExtractiveRequest): number {
	const runs = Array.from({ length: REPEATS }, (_, at) => holdsOf(unread(request, at)));
	const count = Math.min(...runs.map(({ length }) => length));
	const shortest = Array.from({ length: count }, (_, at) => Math.min(...runs.map((run) => run[at] as number)));
	return longestStretch(shortest);
}

/** The same request with passages that no cache has. */
function unread(request: ExtractiveRequest, run: number): ExtractiveRequest {
	return { ...request, passages: request.passages.map((one) => ({ ...one, title: one.title + ' '.repeat(run + 1) })) };
}

/** Milliseconds of each step. */
function holdsOf(request: ExtractiveRequest): number[] {
	const steps = answerSteps(request);
	const times: number[] = [];
	for (let isDone = false; !isDone; ) {
		const started = performance.now();
		isDone = steps.next().done === true;
		times.push(performance.now() - started);
	}
	return times;
}

/** The longest series of steps between two turns of the event loop. */
function longestStretch(steps: readonly number[]): number {
	let longest = 0;
	let held = 0;
	for (const time of steps) {
		held += time;
		longest = Math.max(longest, held);
		if (held >= YIELD_AFTER_MS) held = 0;
	}
	return longest;
}
