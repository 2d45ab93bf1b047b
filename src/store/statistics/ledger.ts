import { DAY_MS } from '../../base/index.ts';
import type { Addition } from './additions.ts';

const HOUR_MS = 3_600_000;

/** The series of figures: by hour, by day, and the citations of documents by day. */
export type Series = 'hour' | 'day' | 'document';

const LENGTH_MS: Readonly<Record<Series, number>> = { hour: HOUR_MS, day: DAY_MS, document: DAY_MS };

/** Whose figures an event belongs to. */
export interface FigureOwner {
	workspace_id: string;
	deployment_id: string;
	assistant_id: string;
}

/** Whether the values are of events in the log, or of events of erased conversations. */
type Column = 'logged' | 'erased';

/** A place in a series. */
export interface Bucket {
	series: Series;
	/** Its beginning (ms since the epoch, UTC). */
	start: number;
}

/** The beginning of the hour or day that has a time (ms since the epoch, UTC). */
export function startOf(series: Series, at: number): number {
	const length = LENGTH_MS[series];
	return Math.floor(at / length) * length;
}

/** The first beginning of an hour or day that is not before a time. */
export function firstStartFrom(series: Series, at: number): number {
	const length = LENGTH_MS[series];
	return Math.ceil(at / length) * length;
}

/** The buckets that an addition counts in. */
export function bucketsOf({ figure, at }: Addition): Bucket[] {
	const series: readonly Series[] = figure === 'cited' ? ['document'] : ['hour', 'day'];
	return series.map((each) => ({ series: each, start: startOf(each, at) }));
}

/** What is added to one stored figure. */
export interface Sum extends FigureOwner, Bucket, Record<Column, number> {
	figure: string;
	key: string;
}

/** Sums that are added to the stored figures with one write each. */
export class Ledger {
	readonly #sums = new Map<string, Sum>();

	add(owner: FigureOwner, { series, start }: Bucket, { figure, key }: Addition, column: Column, value: number): void {
		const { workspace_id, deployment_id, assistant_id } = owner;
		const id = [workspace_id, series, start, figure, key, deployment_id, assistant_id].join('\n');
		let sum = this.#sums.get(id);
		if (sum === undefined) {
			sum = { workspace_id, series, start, figure, key, deployment_id, assistant_id, logged: 0, erased: 0 };
			this.#sums.set(id, sum);
		}
		sum[column] += value;
	}

	/** Those that change a figure. */
	sums(): Sum[] {
		return [...this.#sums.values()].filter(({ logged, erased }) => logged !== 0 || erased !== 0);
	}
}
