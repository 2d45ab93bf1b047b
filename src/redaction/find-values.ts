import { findCards } from './cards.ts';
import { comparableText } from './comparable-text.ts';
import { findEmails } from './emails.ts';
import type { FoundValue, RedactionKind } from './found-value.ts';
import { numberRuns } from './number-runs.ts';
import { NumberContexts } from './phone-context.ts';
import { findPhones } from './phones.ts';

/**
 * The values of these kinds in a text, in order and without overlaps. Takes time in proportion to the text, whatever it
 * contains.
 * @param isKnownPhone whether the number with this key was a phone number in another text
 */
export function findValues(
	text: string,
	kinds: ReadonlySet<RedactionKind>,
	isKnownPhone: (key: string) => boolean = () => false,
): FoundValue[] {
	const comparable = comparableText(text);
	const emails = findEmails(comparable);
	const numbers = kinds.has('phone') || kinds.has('card') ? findNumbers(comparable, kinds, emails, isKnownPhone) : [];
	const found = kinds.has('email') ? [...emails, ...numbers] : numbers;
	return found.sort((a, b) => a.start - b.start);
}

function findNumbers(
	text: string,
	kinds: ReadonlySet<RedactionKind>,
	emails: readonly FoundValue[],
	isKnownPhone: (key: string) => boolean,
): FoundValue[] {
	const found: FoundValue[] = [];
	const search = { text, contexts: new NumberContexts(text), isKnown: isKnownPhone };
	let next = 0;
	for (const { start, groups } of numberRuns(text)) {
		while (next < emails.length && (emails[next] as FoundValue).end <= start) next++;
		// Digits in an e-mail address are a part of it.
		const email = emails[next];
		const rest =
			email === undefined ? groups : groups.filter((group) => group.end <= email.start || group.start >= email.end);
		const cards = kinds.has('card') && groups[0]?.before.startsWith('+') !== true ? findCards(rest) : [];
		found.push(...cards);
		if (!kinds.has('phone')) continue;
		for (const part of partsBeside(rest, cards)) found.push(...findPhones(search, part));
	}
	return found;
}

/** The groups before, between and after the card numbers. */
function partsBeside<G extends { start: number; end: number }>(
	groups: readonly G[],
	cards: readonly FoundValue[],
): G[][] {
	const parts: G[][] = [[]];
	for (const group of groups) {
		const isOfCard = cards.some(({ start, end }) => group.start >= start && group.end <= end);
		if (!isOfCard) parts.at(-1)?.push(group);
		else if (parts.at(-1)?.length !== 0) parts.push([]);
	}
	return parts.filter((part) => part.length > 0);
}
