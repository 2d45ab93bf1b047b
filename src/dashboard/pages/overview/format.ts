import { fill, locale, strings } from '../../languages/index.ts';
import type { Figures } from './queries.ts';

/** A time as people read it: `420 ms`, `1.2 s`; a dash where there is none. */
export function duration(ms: number | null): string {
	if (ms === null) return '–';
	if (ms < 1_000) return `${ms.toLocaleString(locale.value)} ms`;
	return `${(ms / 1_000).toLocaleString(locale.value, { maximumFractionDigits: 1 })} s`;
}

/** A share in percent; a dash where there is nothing to divide. */
export function share(part: number, whole: number): string {
	if (whole === 0) return '–';
	return (part / whole).toLocaleString(locale.value, { style: 'percent', maximumFractionDigits: 0 });
}

/** How a number has changed in percent. */
export function change(now: number | null, before: number | null): string {
	const t = strings().overviewPage;
	if (now === null || before === null || before === 0) return now ? t.isNew : t.noChange;
	const percent = Math.round((now / before - 1) * 100);
	return percent === 0 ? t.noChange : fill(t.change, { percent: signed(percent, ' %') });
}

/** How a share has changed in percentage points. */
export function changeOfShare(figures: Figures, before: Figures, key: keyof Figures['answers']): string {
	const t = strings().overviewPage;
	const [whole, wholeBefore] = [questionsOf(figures), questionsOf(before)];
	if (whole === 0 || wholeBefore === 0) return whole === 0 ? t.noChange : t.isNew;
	const points = Math.round((figures.answers[key] / whole - before.answers[key] / wholeBefore) * 100);
	return points === 0 ? t.noChange : fill(t.points, { points: signed(points, '') });
}

/** The questions whose outcome is known. */
export function questionsOf({ answers }: Figures): number {
	return Object.values(answers).reduce((sum, count) => sum + count, 0);
}

function signed(value: number, unit: string): string {
	return `${value > 0 ? '+' : '−'}${Math.abs(value).toLocaleString(locale.value)}${unit}`;
}

/** The hour or day of a bucket, in UTC. */
export function bucketLabel(start: string, interval: 'hour' | 'day'): string {
	const format: Intl.DateTimeFormatOptions =
		interval === 'hour' ? { dateStyle: 'short', timeStyle: 'short' } : { dateStyle: 'medium' };
	return new Intl.DateTimeFormat(locale.value, { ...format, timeZone: 'UTC' }).format(new Date(start));
}
