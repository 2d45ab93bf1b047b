import type { FoundValue } from './found-value.ts';

const MAX_LOCAL_CHARS = 64;
const MAX_DOMAIN_CHARS = 255;
/** Letters of scripts without spaces between words are left out: the words beside an address would be part of it. */
const LOCAL_CHARACTER = /[a-z0-9._%+'\-\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/iu;
const DOMAIN_CHARACTER = /[a-z0-9.\-\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/iu;
const LABEL = /^[^-](?:.{0,61}[^-])?$/u;
const TOP_LEVEL_LABEL = /^(?:xn--[a-z0-9-]+|\p{L}{2,63})$/iu;

/** The e-mail addresses in a text. Takes linear time: each `@` is compared with a bounded number of characters around it. */
export function findEmails(text: string): FoundValue[] {
	const found: FoundValue[] = [];
	let from = 0;
	for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
		const start = startOfLocalPart(text, Math.max(from, at - MAX_LOCAL_CHARS), at);
		const end = start < at ? endOfDomain(text, at + 1) : at;
		if (end <= at + 1) continue;
		found.push({ kind: 'email', start, end, key: text.slice(start, end).toLowerCase() });
		from = end;
	}
	return found;
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
