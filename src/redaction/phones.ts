import type { FoundValue } from './found-value.ts';
import { type DigitGroup, digitCount, digitsOf } from './number-runs.ts';
import { contextBefore } from './phone-context.ts';

/** Digits of an international number (E.164), and of one that is written with its trunk prefix or after a word for a phone. */
const INTERNATIONAL = { min: 8, max: 15 };
const NATIONAL = { min: 9, max: 13 };
const AFTER_A_WORD = { min: 7, max: 15 };
/** A number that begins with 0 and has at least this many digits ends where the next group begins with 0. */
const MIN_DIGITS_BEFORE_NEXT = 9;

/** Forms that are phone numbers without a word before them: North America, area code in parentheses, Russia, mobiles of China. */
const FORMS = [
	/^(?:1[-. ])?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}$/,
	/^\(\d{2,5}\) ?\d{3,5}(?:[- ]\d{2,5}){0,2}$/,
	/^8[- ]?\(?\d{3}\)?[- ]\d{3}[- ]?\d{2}[- ]?\d{2}$/,
	/^1[3-9]\d{9}$/,
];
/** Dates, ranges of years, addresses of IPv4. */
const OTHER_FORMS = [
	/^\d{4}[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])(?!\d)/,
	/^(?:0?[1-9]|[12]\d|3[01])([-./])(?:0?[1-9]|[12]\d|3[01])\1(?:19|20)\d{2}(?!\d)/,
	/^(?:(?:19|20)\d{2}(?: ?[-/] ?| |$))+$/,
	/^\d{1,3}(?:\.\d{1,3}){3}$/,
];
const LETTER_BEFORE = /(?:[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}_]|[\p{L}\d]-|\d[.,:])$/u;
const LETTER_AFTER = /^(?:[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}_@%€$£]|-\p{L}|[.,:]\d| ?[€$£%])/u;
const URL_BEFORE = /:\/\/|www\./i;
/** What opens a number; other characters are between it and the number before it. */
const OPENING = /^(?:\+ ?\(?|\()$/;
const MAX_URL_CHARS = 200;

/**
 * The phone numbers among the groups of a run of a text.
 * @param isKnown whether the number with this key is a phone number, whatever is before it
 */
export function findPhones(text: string, run: readonly DigitGroup[], isKnown: (key: string) => boolean): FoundValue[] {
	return separateNumbers(run).flatMap((groups) => {
		const range = phoneRange(text, groups, isKnown);
		return range === null ? [] : [{ kind: 'phone' as const, ...range }];
	});
}

/** Splits a run before a group with a trunk prefix, where the groups before it are a whole number. */
function separateNumbers(run: readonly DigitGroup[]): DigitGroup[][] {
	const numbers: DigitGroup[][] = [];
	let remaining = digitCount(run);
	let inLast = 0;
	for (const group of run) {
		const isTrunk = group.digits.startsWith('0') && group.before.includes(' ') && !group.before.includes('(');
		const last = numbers.at(-1);
		if (!last || (isTrunk && inLast >= MIN_DIGITS_BEFORE_NEXT && remaining >= NATIONAL.min)) {
			numbers.push([group]);
			inLast = 0;
		} else {
			last.push(group);
		}
		inLast += group.digits.length;
		remaining -= group.digits.length;
	}
	return numbers;
}

function phoneRange(
	text: string,
	groups: DigitGroup[],
	isKnown: (key: string) => boolean,
): Omit<FoundValue, 'kind'> | null {
	const first = groups[0] as DigitGroup;
	const isInternational = first.before.startsWith('+') || /^00[1-9]/.test(first.digits);
	const max = isInternational ? INTERNATIONAL.max + 2 : first.digits.startsWith('0') ? NATIONAL.max : AFTER_A_WORD.max;
	let count = digitCount(groups);
	while (groups.length > 1 && count > max) count -= groups.pop()?.digits.length ?? 0;
	const end = (groups.at(-1) as DigitGroup).end;
	const hasParentheses = groups.slice(1).some(({ before }) => before.includes(')'));
	const before = OPENING.test(first.before) ? first.before : '';
	const opening = hasParentheses ? before : before.replace('(', '');
	const start = first.start - opening.length;
	const key = keyOf(groups, isInternational);
	return isKnown(key) || isPhone(text, groups, start, end, isInternational) ? { start, end, key } : null;
}

function isPhone(
	text: string,
	groups: readonly DigitGroup[],
	start: number,
	end: number,
	isInternational: boolean,
): boolean {
	const count = digitCount(groups);
	if (count < AFTER_A_WORD.min) return false;
	const written = text.slice(start, end);
	const before = text.slice(Math.max(0, start - 2), start);
	if (LETTER_BEFORE.test(before) || LETTER_AFTER.test(text.slice(end, end + 2))) return false;
	if (written.startsWith('+')) return count >= INTERNATIONAL.min && count <= INTERNATIONAL.max + 1;
	if (OTHER_FORMS.some((form) => form.test(written)) || before.endsWith('#')) return false;
	const context = contextBefore(text, start);
	if (context === 'other' || (context === 'none' && isInUrl(text, start))) return false;
	if (isInternational) return count >= INTERNATIONAL.min + 2 && count <= INTERNATIONAL.max + 2;
	if (/^\(?0(?: ?\(?)[1-9]/.test(written) && count >= NATIONAL.min && count <= NATIONAL.max) return true;
	if (FORMS.some((form) => form.test(written))) return true;
	return context === 'phone' && count <= AFTER_A_WORD.max;
}

function isInUrl(text: string, start: number): boolean {
	const before = text.slice(Math.max(0, start - MAX_URL_CHARS), start);
	return URL_BEFORE.test(before.split(/\s/).at(-1) as string);
}

/** The digits; of an international number with `+`, without the trunk prefix in parentheses that some people add. */
function keyOf(groups: readonly DigitGroup[], isInternational: boolean): string {
	if (!isInternational) return digitsOf(groups);
	const kept = groups.filter(({ digits, before }) => !(digits === '0' && before.endsWith('(')));
	return `+${digitsOf(kept).replace(/^00/, '')}`;
}
