/** Hours and minutes of the day. */
export interface ClockTime {
	hour: number;
	minute: number;
}

const CLOCK = '(\\p{Nd}{1,2})(?:[:.h]\\s?(\\p{Nd}{2}))?\\s?(am|pm|a\\.m\\.|p\\.m\\.)?(?:\\s?(?:uhr|uur|h|時))?';
const CLOCK_RANGE = new RegExp(
	`(?<![\\p{Nd}.:])${CLOCK}\\s?(?:-|–|—|~|～|〜|to|until|till|bis|à|a|alle|tot|às|até|から|إلى|حتى)\\s?${CLOCK}(?![\\p{Nd}:])`,
	'giu',
);
/** Hours past midnight end by this hour. Later ends are misread: `9–5 pm`. */
export const LATEST_END_HOUR = 8;

/** Whether hours of a text begin on one day and end after midnight, and a time of the next day is before their end. */
export function isOpenPastMidnight(text: string, time: ClockTime): boolean {
	return [...text.matchAll(CLOCK_RANGE)].some(([, h1, m1, half1, h2, m2, half2]) => {
		// `6–2 am`: the half of the first time is unknown.
		if ((half1 === undefined) !== (half2 === undefined)) return false;
		const start = minutesOf(h1, m1, half1);
		const end = minutesOf(h2, m2, half2);
		return end < start && end <= LATEST_END_HOUR * 60 && time.hour * 60 + time.minute < end;
	});
}

function minutesOf(hour: string | undefined, minute = '0', half: string | undefined): number {
	const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/^p/i.test(half) ? 12 : 0);
	return hours * 60 + Number(minute);
}
