import type { FoundValue } from './found-value.ts';
import type { DigitGroup } from './number-runs.ts';

/** The first digits of the networks (ISO/IEC 7812) and the lengths of their numbers. */
const NETWORKS: ReadonlyArray<{ prefix: RegExp; lengths: readonly number[] }> = [
	{ prefix: /^4/, lengths: [13, 16, 19] },
	{ prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
	{ prefix: /^3[47]/, lengths: [15] },
	{ prefix: /^3(?:0[0-5]|[689])/, lengths: [14, 16, 19] },
	{ prefix: /^6(?:011|4[4-9]|5)/, lengths: [16, 19] },
	{ prefix: /^35(?:2[89]|[3-8])/, lengths: [16, 19] },
	{ prefix: /^62/, lengths: [16, 17, 18, 19] },
	{ prefix: /^220[0-4]/, lengths: [16, 19] },
	{ prefix: /^(?:50|5[6-8]|6[37])/, lengths: [13, 14, 15, 16, 17, 18, 19] },
];
const MIN_DIGITS = 13;
const MAX_DIGITS = 19;
/** Digits of the first group as cards and people write it. */
const MIN_GROUP_DIGITS = 3;

/** The card numbers among the groups of a run: digits of a network with a right check digit, in one group or in several. */
export function findCards(groups: readonly DigitGroup[]): FoundValue[] {
	const found: FoundValue[] = [];
	for (let first = 0; first < groups.length; first++) {
		const last = lastGroupOfCard(groups, first);
		if (last < 0) continue;
		const [from, to] = [groups[first] as DigitGroup, groups[last] as DigitGroup];
		const key = groups
			.slice(first, last + 1)
			.map(({ digits }) => digits)
			.join('');
		found.push({ kind: 'card', start: from.start, end: to.end, key });
		first = last;
	}
	return found;
}

/** The last group of the card number that begins with a group; -1 if none does. */
function lastGroupOfCard(groups: readonly DigitGroup[], first: number): number {
	let digits = '';
	if ((groups[first] as DigitGroup).digits.length < MIN_GROUP_DIGITS) return -1;
	for (let last = first; last < groups.length && digits.length <= MAX_DIGITS; last++) {
		const group = groups[last] as DigitGroup;
		if (last > first && /[()]/.test(group.before)) return -1;
		digits += group.digits;
		if (isCardNumber(digits)) return last;
	}
	return -1;
}

function isCardNumber(digits: string): boolean {
	if (digits.length < MIN_DIGITS || digits.length > MAX_DIGITS) return false;
	return (
		NETWORKS.some(({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits)) && passesLuhn(digits)
	);
}

/** The check digit of ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
	let sum = 0;
	for (let at = digits.length - 1, doubles = false; at >= 0; at--, doubles = !doubles) {
		const digit = digits.charCodeAt(at) - 48;
		sum += doubles ? (digit > 4 ? 2 * digit - 9 : 2 * digit) : digit;
	}
	return sum % 10 === 0;
}
