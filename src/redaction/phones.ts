import type { FoundValue } from './found-value.ts';
import { type DigitGroup, digitCount, digitsOf } from './number-runs.ts';
import type { NumberContexts } from './phone-context.ts';

/** Digits of an international number (E.164), of a national number with its trunk prefix, and of a number after a word for a phone. */
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
const LETTER_BEFORE = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}_]$/u;
/** The beginning of a code such as AB-1234567, and the sign of a number. */
const CODE_BEFORE = /[\p{L}\d]-$|#$/u;
const LETTER_AFTER = /^(?:[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}_@%€$£]|-\p{L}| ?[€$£%])/u;
const URL_BEFORE = /:\/\/|www\./i;
/** What opens a number; other characters are between it and the number before it. */
const OPENING = /^(?:\+ ?\(?|\()$/;
const MAX_URL_CHARS = 200;

/** A text in which phone numbers are looked for. */
export interface PhoneSearch {
	text: string;
	contexts: NumberContexts;
	/** Whether the number with this key is a phone number, whatever is before it. */
	isKnown(key: string): boolean;
}

/** The phone numbers among the groups of a run of a text. */
export function findPhones(search: PhoneSearch, run: readonly DigitGroup[]): FoundValue[] {
	const found: FoundValue[] = [];
	for (const number of separateNumbers(run)) {
		for (let at = 0; at < number.length; ) {
			const groups = longestNumber(number, at);
			at += groups.length;
			const range = phoneRange(search, groups);
			if (range !== null) found.push({ kind: 'phone', ...range });
		}
	}
	return found;
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

/** The groups of the longest number that begins with a group; at least this group. */
function longestNumber(groups: readonly DigitGroup[], from: number): DigitGroup[] {
	const number = [groups[from] as DigitGroup];
	let count = digitCount(number);
	let max = maxDigits(number[0] as DigitGroup);
	for (let next = from + 1; next < groups.length; next++) {
		const group = groups[next] as DigitGroup;
		count += group.digits.length;
		if (isTrunkInParentheses(group)) max++;
		if (count > max) break;
		number.push(group);
	}
	return number;
}

function maxDigits({ before, digits }: DigitGroup): number {
	if (before.startsWith('+')) return INTERNATIONAL.max;
	if (/^00[1-9]/.test(digits)) return INTERNATIONAL.max + 2;
	return digits.startsWith('0') ? NATIONAL.max : AFTER_A_WORD.max;
}

/** `(0)`, which some people write after the country code. */
function isTrunkInParentheses({ digits, before }: DigitGroup): boolean {
	return digits === '0' && before.endsWith('(');
}

function phoneRange(search: PhoneSearch, groups: readonly DigitGroup[]): Omit<FoundValue, 'kind'> | null {
	const first = groups[0] as DigitGroup;
	const end = (groups.at(-1) as DigitGroup).end;
	const hasParentheses = groups.slice(1).some(({ before }) => before.includes(')'));
	const before = OPENING.test(first.before) ? first.before : '';
	const opening = hasParentheses ? before : before.replace('(', '');
	const start = first.start - opening.length;
	const isInternational = before.startsWith('+') || /^00[1-9]/.test(first.digits);
	const key = keyOf(groups, isInternational);
	const count = digitCount(groups);
	return search.isKnown(key) || isPhone(search, { start, end, count, isInternational }) ? { start, end, key } : null;
}

interface Candidate {
	start: number;
	end: number;
	/** Its digits. */
	count: number;
	isInternational: boolean;
}

function isPhone({ text, contexts }: PhoneSearch, { start, end, count, isInternational }: Candidate): boolean {
	if (count < AFTER_A_WORD.min || LETTER_AFTER.test(text.slice(end, end + 2))) return false;
	const written = text.slice(start, end);
	const before = text.slice(Math.max(0, start - 2), start);
	if (written.startsWith('+')) return count >= INTERNATIONAL.min && !/\d$/.test(before);
	if (LETTER_BEFORE.test(before) || OTHER_FORMS.some((form) => form.test(written))) return false;
	const context = contexts.before(start);
	if (context === 'other') return false;
	if (context === 'none' && (CODE_BEFORE.test(before) || isInUrl(text, start))) return false;
	if (isInternational) return count >= INTERNATIONAL.min + 2;
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
	const kept = groups.filter((group) => !isTrunkInParentheses(group));
	return `+${digitsOf(kept).replace(/^00/, '')}`;
}
