import { AppError, DAY_MS, hasFourDigitYear } from '../base/index.ts';

const HOUR_MS = 3_600_000;

/** The hours or days that a request asks for. */
export interface StatisticsRange {
	series: 'hour' | 'day';
	/** Milliseconds of one of them. */
	length: number;
	/** The beginning of the first one (ms since the epoch, UTC), and the end of the last one. */
	from: number;
	to: number;
}

const LENGTH_MS = { hour: HOUR_MS, day: DAY_MS } as const;
const DEFAULT_COUNT = { hour: 24, day: 30 } as const;
/** Hours or days of one request. */
export const MAX_COUNT = { hour: 8 * 24, day: 400 } as const;

/**
 * The range of a request, extended to whole hours or days in UTC.
 * @throws AppError `invalid_request`
 */
export function rangeOf(
	query: { from?: string; to?: string; interval?: 'hour' | 'day' },
	now: number,
): StatisticsRange {
	const series = query.interval ?? 'day';
	const length = LENGTH_MS[series];
	const to = Math.ceil((query.to === undefined ? now + 1 : Date.parse(query.to)) / length) * length;
	const from =
		query.from === undefined
			? to - DEFAULT_COUNT[series] * length
			: Math.floor(Date.parse(query.from) / length) * length;
	if (!hasFourDigitYear(to)) throw invalid('/to', `must be before the last ${series} of the year 9999`);
	if (!hasFourDigitYear(from)) throw invalid('/from', 'must not be before the year 0');
	if (to <= from) throw invalid('/to', 'must be after from');
	const max = MAX_COUNT[series];
	if ((to - from) / length > max) throw invalid('/from', `must be at most ${max} ${series}s before to`);
	return { series, length, from, to };
}

function invalid(path: string, message: string): AppError {
	return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}
