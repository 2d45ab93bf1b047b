import { percentileOf, timestamp } from '../base/index.ts';
import type { StatisticsFigures, StatisticsModel } from '../contract/index.ts';
import type { FigureSum } from '../store/index.ts';

/** Sums of figures by their keys. */
export class Tally {
	readonly #figures = new Map<string, Map<string, number>>();

	add({ figure, key, value }: Pick<FigureSum, 'figure' | 'key' | 'value'>): void {
		let keys = this.#figures.get(figure);
		if (keys === undefined) {
			keys = new Map();
			this.#figures.set(figure, keys);
		}
		keys.set(key, (keys.get(key) ?? 0) + value);
	}

	of(figure: string, key = ''): number {
		return this.#figures.get(figure)?.get(key) ?? 0;
	}

	keys(figure: string): ReadonlyMap<string, number> {
		return this.#figures.get(figure) ?? new Map();
	}

	total(figure: string): number {
		return [...this.keys(figure).values()].reduce((sum, value) => sum + value, 0);
	}
}

/** Figures as the API shows them. */
export function figuresOf(tally: Tally): StatisticsFigures {
	const answers = (key: string) => tally.of('answers', key);
	return {
		conversations: tally.of('conversations'),
		takeovers: tally.of('takeovers'),
		messages: {
			visitor: tally.of('messages', 'visitor'),
			model: tally.of('messages', 'model'),
			human: tally.of('messages', 'human'),
		},
		answers: {
			documents: answers('documents'),
			tools: answers('tools'),
			model: answers('model'),
			none: answers('none'),
			human: answers('human'),
			failed: answers('failed'),
			stopped: answers('stopped'),
		},
		feedback: { up: tally.of('feedback', 'up'), down: tally.of('feedback', 'down') },
		first_token_ms: percentilesOf(tally, 'first_token_ms'),
		duration_ms: percentilesOf(tally, 'duration_ms'),
		tokens: { input: tally.total('input_tokens'), output: tally.total('output_tokens') },
	};
}

function percentilesOf(tally: Tally, figure: string): StatisticsFigures['duration_ms'] {
	const slots = new Map([...tally.keys(figure)].map(([slot, count]) => [Number(slot), count]));
	return { median: percentileOf(slots, 0.5), p95: percentileOf(slots, 0.95) };
}

/** Replies and tokens by model, the most used model first. */
export function modelsOf(tally: Tally): StatisticsModel[] {
	return [...tally.keys('replies')]
		.filter(([, replies]) => replies > 0)
		.map(([model, replies]) => ({
			model,
			replies,
			input_tokens: tally.of('input_tokens', model),
			output_tokens: tally.of('output_tokens', model),
		}))
		.sort((a, b) => b.replies - a.replies || (a.model < b.model ? -1 : 1));
}

/** The figures of each hour or day of a range, also of those without any event. */
export function bucketsOf(
	tallies: ReadonlyMap<number, Tally>,
	{ from, to, length }: { from: number; to: number; length: number },
): Array<StatisticsFigures & { start: string }> {
	const buckets = [];
	for (let start = from; start < to; start += length) {
		buckets.push({ start: timestamp(start), ...figuresOf(tallies.get(start) ?? new Tally()) });
	}
	return buckets;
}
