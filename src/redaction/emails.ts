import type { FoundValue } from './found-value.ts';

/** In a URL it is encoded. */
const AT_SIGN = /@|%40/g;
const MAX_LOCAL_CHARS = 64;
const MAX_DOMAIN_CHARS = 255;
/** Letters of scripts without spaces between words are left out: the words beside an address would be part of it. */
const LOCAL_CHARACTER = /[a-z0-9._%+'\-\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/iu;
const DOMAIN_CHARACTER = /[a-z0-9.\-\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/iu;
const LABEL = /^[^-](?:.{0,61}[^-])?$/u;
const TOP_LEVEL_LABEL = /^(?:xn--[a-z0-9-]+|\p{L}{2,63})$/iu;

/** The e-mail addresses in a text. Takes linear time: each at sign is compared with a bounded number of characters around it. */
export function findEmails(text: string): FoundValue[] {
	const found: FoundValue[] = [];
	let from = 0;
	for (const { 0: sign, index: at } of text.matchAll(AT_SIGN)) {
		const start = startOfLocalPart(text, Math.max(from, at - MAX_LOCAL_CHARS), at);
		const domain = at + sign.length;
		const end = start < at ? endOfDomain(text, domain) : domain;
		if (end <= domain) continue;
		found.push({ kind: 'email', start, end, key: decodedEmail(text.slice(start, end)).toLowerCase() });
		from = end;
	}
	return found;
}

/** The address itself where it is written as in a URL. */
export function decodedEmail(address: string): string {
	return address.replace('%40', '@');
}

function startOfLocalPart(text: string, least: number, at: number): number {
	let start = at;
	while (start > least && LOCAL_CHARACTER.test(text[start - 1] as string)) start--;
	// A quotation mark or the full stop of the sentence before is no part of an address.
	while (start < at && /['.]/.test(text[start] as string)) start++;
	return text[at - 1] === '.' ? at : start;
}

/** The end of the domain that starts here; the start if there is none. */
function endOfDomain(text: string, start: number): number {
	let end = start;
	const most = Math.min(text.length, start + MAX_DOMAIN_CHARS);
	while (end < most && DOMAIN_CHARACTER.test(text[end] as string)) end++;
	const labels = text.slice(start, end).split('.');
	const firstInvalid = labels.findIndex((label) => !LABEL.test(label));
	if (firstInvalid >= 0)
		labels.splice(firstInvalid, labels.length, (labels[firstInvalid] as string).replace(/-+$/, ''));
	while (labels.length > 1 && !TOP_LEVEL_LABEL.test(labels.at(-1) as string)) labels.pop();
	return labels.length > 1 ? start + labels.join('.').length : start;
}
