/** Latin letters that NFKD does not decompose, and their common transcriptions. */
const LIGATURES: Record<string, string> = {
	ß: 'ss',
	æ: 'ae',
	œ: 'oe',
	ø: 'o',
	ł: 'l',
	đ: 'd',
	ð: 'd',
	þ: 'th',
	ı: 'i',
};

/**
 * Marks that writers leave out or vary: accents, Hebrew and Arabic vowel points, the tatweel. The marks of Indic and
 * South-East Asian scripts are vowels and stay; so does the breve of the Cyrillic й, which is a separate letter.
 */
const OPTIONAL_MARKS = /(?<!и(?=\u0306))[\u0300-\u036f]|[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]/gu;

const NON_ASCII = /[\u0080-\uffff]/;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const UNSPACED =
	/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Longer runs of letters are not words (encoded data, hostile input); they are truncated. */
const MAX_WORD_LENGTH = 64;

/** The segmenter's time grows with the square of what it is given, so unbroken runs go to it in pieces. */
const MAX_RUN_LENGTH = 200;

/** The segmenter finds words by dictionary, whatever its locale; one is enough for every script without spaces. */
const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** Lower case, compatibility forms unified (NFKD), optional marks stripped, composed again. */
export function normalise(text: string): string {
	if (!NON_ASCII.test(text)) return text.toLowerCase();
	return text
		.normalize('NFKD')
		.toLowerCase()
		.replace(OPTIONAL_MARKS, '')
		.replace(/[ßæœøłđðþı]/g, (letter) => LIGATURES[letter] as string)
		.normalize('NFC');
}

/** The words of a text in order, normalised: letters, digits and their marks only. */
export function words(text: string): string[] {
	const found: string[] = [];
	for (const run of normalise(text).match(WORD) ?? []) {
		if (!UNSPACED.test(run)) found.push(truncate(run));
		else {
			for (let at = 0; at < run.length; ) {
				const piece = truncate(run.slice(at), MAX_RUN_LENGTH);
				for (const part of segmenter.segment(piece)) {
					if (part.isWordLike) for (const word of part.segment.match(WORD) ?? []) found.push(truncate(word));
				}
				at += piece.length;
			}
		}
	}
	return found;
}

function truncate(text: string, length = MAX_WORD_LENGTH): string {
	if (text.length <= length) return text;
	const cut = text.slice(0, length);
	// Half of a surrogate pair has no UTF-8 form.
	return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
