import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { SourceDocument } from '../../bench/answers/assistant.ts';
import { LocalAssistant } from '../../bench/answers/training/local-assistant.ts';
import { type Figure, type Goal, isMet } from '../../bench/report/figure.ts';

export const atLeast = (bound: number): Goal => ({ is: 'at least', bound });
export const atMost = (bound: number): Goal => ({ is: 'at most', bound });

/** @returns a function that creates assistants in this process. They are closed after the tests of the file. */
export function localAssistants(): (name: string, documents: readonly SourceDocument[]) => Promise<LocalAssistant> {
	const assistants: LocalAssistant[] = [];
	after(() => Promise.all(assistants.map((assistant) => assistant[Symbol.asyncDispose]())));
	return async (_, documents) => {
		const assistant = await LocalAssistant.create(documents);
		assistants.push(assistant);
		return assistant;
	};
}

/** Shows all figures, and fails with those that are out of their bounds or missing. */
export function assertWithin(
	figures: readonly Figure[],
	bounds: Record<string, Goal>,
	t: { diagnostic(message: string): void },
): void {
	for (const { name, value, remark } of figures) t.diagnostic(`${name}: ${value.median.toFixed(3)} (${remark})`);
	const missed = Object.entries(bounds).filter(([name, goal]) => {
		const figure = figures.find((one) => one.name === name);
		return figure === undefined || !isMet({ ...figure, goal });
	});
	assert.deepEqual(missed, []);
}
