import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { fill, locale, strings } from '../../languages/index.ts';

const AMBER_MS = 2 * 60_000;
const RED_MS = 5 * 60_000;
const TICK_MS = 15_000;

/** The present time, for waiting times that grow while they are shown. */
const now = signal(Date.now());

/** Lets the waiting times of a page grow. */
export function useClock(): void {
	useEffect(() => {
		const timer = setInterval(() => {
			now.value = Date.now();
		}, TICK_MS);
		return () => clearInterval(timer);
	}, []);
}

/** For how long a visitor waits for a person: amber after two minutes, red after five. */
export function Waiting({ since }: { since: string }) {
	const ms = Math.max(0, now.value - Date.parse(since));
	const tone = ms >= RED_MS ? 'red' : ms >= AMBER_MS ? 'amber' : 'grey';
	return (
		<span class={`status status-${tone}`} data-waiting={tone}>
			{fill(strings().inboxPages.waitingFor, { time: durationText(ms) })}
		</span>
	);
}

/** For example `5 min`, `3 hr` or `2 days`. */
export function durationText(ms: number): string {
	const minutes = Math.floor(ms / 60_000);
	const [value, unit] =
		minutes < 60
			? [minutes, 'minute']
			: minutes < 1_440
				? [Math.floor(minutes / 60), 'hour']
				: [Math.floor(minutes / 1_440), 'day'];
	const options = { style: 'unit', unit, unitDisplay: 'short' } as const;
	return new Intl.NumberFormat(locale.value, options as Intl.NumberFormatOptions).format(value as number);
}
