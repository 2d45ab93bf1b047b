import { locale } from '../languages/index.ts';

const UNITS = [
	['year', 31_536_000],
	['month', 2_592_000],
	['day', 86_400],
	['hour', 3_600],
	['minute', 60],
] as const;

/** A moment relative to now, with the absolute time as its tooltip. */
export function RelativeTime({ at }: { at: string }) {
	const time = new Date(at);
	return (
		<time dateTime={at} title={absoluteText(time)}>
			{relativeText(time, Date.now())}
		</time>
	);
}

/** @param now milliseconds since the epoch */
export function relativeText(time: Date, now: number): string {
	const seconds = (time.getTime() - now) / 1_000;
	const format = new Intl.RelativeTimeFormat(locale.value, { numeric: 'auto' });
	const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
	if (unit) return format.format(Math.round(seconds / unit[1]), unit[0]);
	// Seconds that have passed do not matter, those that remain do.
	return format.format(Math.max(0, Math.round(seconds)), 'second');
}

/** A moment as date and time. */
export function absoluteText(time: Date): string {
	return new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeStyle: 'short' }).format(time);
}
