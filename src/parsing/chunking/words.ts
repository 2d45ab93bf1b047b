const UNSPACED =
	/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** A longer run of characters counts as several words. No language's words are this long on average. */
const MAX_CHARACTERS_PER_WORD = 12;

/** Longer segments are cut. */
const MAX_SEGMENT_CHARACTERS = MAX_CHARACTERS_PER_WORD * 4;

/** The segmenter's cost grows with the square of what it is given. */
const SEGMENTER_WINDOW_CHARS = 2000;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** The number of words of a text; in scripts without spaces, by the segmenter's dictionary. */
export function countWords(text: string): number {
	if (UNSPACED.test(text)) {
		let count = 0;
		for (const [, isWord] of segments(text)) if (isWord) count++;
		return Math.max(count, Math.ceil(text.length / MAX_SEGMENT_CHARACTERS));
	}
	const runs = runsIn(text);
	return Math.max(runs, Math.ceil(text.length / MAX_CHARACTERS_PER_WORD));
}

/** Runs of characters other than white space. A long text is counted without keeping them. */
function runsIn(text: string): number {
	let runs = 0;
	for (const _ of text.matchAll(/\S+/g)) runs++;
	return runs;
}

/** Cuts a text into parts of at most `most` words, between words or within a very long run of characters. */
export function* splitWords(text: string, maxWords: number): Generator<string> {
	let part = '';
	let words = 0;
	for (const [segment, isWord] of segments(text)) {
		const weight = isWord
			? Math.max(1, Math.ceil(segment.length / MAX_CHARACTERS_PER_WORD))
			: segment.length / MAX_CHARACTERS_PER_WORD;
		if (words + weight > maxWords && part !== '') {
			if (part.trim() !== '') yield part.trim();
			part = '';
			words = 0;
		}
		part += segment;
		words += weight;
	}
	if (part.trim() !== '') yield part.trim();
}

/** Words, runs of signs and runs of white space: the segments of a text whose words are separated by spaces. */
const SPACED_SEGMENT = /([\p{L}\p{N}\p{M}_'’]{1,48})|[^\p{L}\p{N}\p{M}_'’\s]{1,48}|\s{1,48}/gu;

function* segments(text: string): Generator<[segment: string, isWord: boolean]> {
	if (UNSPACED.test(text)) yield* dictionarySegments(text);
	// The segmenter takes microseconds for each segment, and text without spaces may have millions of them.
	else for (const [segment, word] of text.matchAll(SPACED_SEGMENT)) yield [segment, word !== undefined];
}

function* dictionarySegments(text: string): Generator<[segment: string, isWord: boolean]> {
	for (let at = 0; at < text.length; ) {
		let cut = Math.min(text.length, at + SEGMENTER_WINDOW_CHARS);
		const space = cut < text.length ? text.slice(at, cut).lastIndexOf(' ') : -1;
		if (space > 0) cut = at + space + 1;
		else if (cut < text.length && /[\ud800-\udbff]/.test(text.charAt(cut - 1))) cut--;
		for (const { segment, isWordLike } of segmenter.segment(text.slice(at, cut))) {
			if (segment.length <= MAX_SEGMENT_CHARACTERS) yield [segment, isWordLike === true];
			else for (const piece of segment.match(/.{1,48}/gsu) ?? []) yield [piece, isWordLike === true];
		}
		at = cut;
	}
}
