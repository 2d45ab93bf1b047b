import { weekdayTerm } from '../calendar/weekdays.ts';
import type { Candidate } from '../matching/candidate.ts';
import { shownTermsOf } from '../matching/exceptions.ts';
import type { AskedDay } from '../question/asked-day.ts';
import type { SpokenLanguage } from '../spoken-language.ts';

/**
 * The day that an answer is about, as far as the question left it open: `Monday (UTC)`, `Thursday 24 December`. Empty for an
 * answer that is about no day, and where the question names it.
 */
export function dayNameOf(best: Candidate, language: SpokenLanguage): string {
	const { day } = best.space.question;
	if (!day || day.date === null || day.date.year === null || day.named === 'holiday') return '';
	const terms = shownTermsOf(best);
	const isException = [...day.exceptions].some((term) => terms.has(term));
	const isRule = day.weekday !== null && terms.has(weekdayTerm(day.weekday));
	if (!isException && (!isRule || day.named === 'weekday')) return '';
	const name = nameOf(day, language, isException || day.named === 'date');
	// A date that the question names is the same in each zone.
	return day.assumedZone === null || day.named === 'date' ? name : `${name} (${day.assumedZone})`;
}

function nameOf({ date, time }: AskedDay, language: SpokenLanguage, withDate: boolean): string {
	const { year, month, day } = date as { year: number; month: number; day: number };
	const parts: Intl.DateTimeFormatOptions = {
		weekday: 'long',
		...(withDate ? { day: 'numeric', month: 'long' } : {}),
		...(time ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } : {}),
	};
	// `en-GB`: the day before the month, as in most of the world.
	const locale = language === 'en' ? 'en-GB' : language;
	const formatter = new Intl.DateTimeFormat(locale, { ...parts, timeZone: 'UTC' });
	const text = formatter.format(Date.UTC(year, month - 1, day, time?.hour ?? 0, time?.minute ?? 0));
	return text.charAt(0).toUpperCase() + text.slice(1);
}
