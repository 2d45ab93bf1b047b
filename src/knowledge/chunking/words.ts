const UNSPACED =
	/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** No language's words are this long on average: longer runs of characters count as several. */
const LONG_WORD = 12;

/** The segmenter's cost grows with the square of what it is given. */
const WINDOW = 2000;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** How many words a text has; in scripts without spaces, as the segmenter's dictionary finds them. */
export function countWords(text: string): number {
	if (UNSPACED.test(text)) {
		let count = 0;
		for (const [, isWord] of segments(text)) if (isWord) count++;
		return count;
	}
	const runs = text.match(/\S+/g)?.length ?? 0;
	return Math.max(runs, Math.ceil(text.length / LONG_WORD));
}

/** Cuts a text into parts of at most `most` words, between words, or within a run of characters that has no end. */
export function splitWords(text: string, most: number): string[] {
	const parts: string[] = [];
	let part = '';
	let words = 0;
	const end = () => {
		if (part.trim() !== '') parts.push(part.trim());
		part = '';
		words = 0;
	};
	for (const [segment, isWord] of segments(text)) {
		const weight = isWord ? Math.max(1, Math.ceil(segment.length / LONG_WORD)) : segment.length / LONG_WORD;
		if (words + weight > most && part !== '') end();
		part += segment;
		words += weight;
	}
	end();
	return parts;
}

function* segments(text: string): Generator<[segment: string, isWord: boolean]> {
	for (let at = 0; at < text.length; ) {
		let cut = Math.min(text.length, at + WINDOW);
		const space = cut < text.length ? text.slice(at, cut).lastIndexOf(' ') : -1;
		if (space > 0) cut = at + space + 1;
		else if (cut < text.length && /[\ud800-\udbff]/.test(text.charAt(cut - 1))) cut--;
		for (const { segment, isWordLike } of segmenter.segment(text.slice(at, cut))) {
			if (segment.length <= LONG_WORD * 4) yield [segment, isWordLike === true];
			else for (const piece of segment.match(/.{1,48}/gsu) ?? []) yield [piece, isWordLike === true];
		}
		at = cut;
	}
}
