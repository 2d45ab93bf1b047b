const DAY_SECONDS = 86_400;

/**
 * The labels of a time axis in UTC: days, or hours with the day at midnight.
 * @param language a BCP 47 tag
 * @param splits the times of the labels (Unix seconds)
 * @param increment the distance between two labels (seconds)
 */
export function axisLabels(language: string, splits: readonly number[], increment: number): string[] {
	const day = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' });
	const hour = new Intl.DateTimeFormat(language, { timeStyle: 'short', timeZone: 'UTC' });
	const isDay = (seconds: number) => increment >= DAY_SECONDS || seconds % DAY_SECONDS === 0;
	return splits.map((seconds) => (isDay(seconds) ? day : hour).format(seconds * 1_000));
}
