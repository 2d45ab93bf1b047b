/** The letters of languages besides a to z, in lower case. */
const ALPHABETS: Record<string, string> = {
	bg: 'абвгдежзийклмнопрстуфхцчшщъьюя',
	cs: 'áčďéěíňóřšťúůýž',
	da: 'æøåé',
	de: 'äöüß',
	eo: 'ĉĝĥĵŝŭ',
	es: 'áéíñóúü',
	et: 'äõöüšž',
	fr: 'àâæçéèêëîïôœùûü',
	he: 'אבגדהוזחטיךכלםמןנסעףפץצקרשת',
	hr: 'čćđšž',
	hu: 'áéíóöőúüű',
	is: 'áðéíóúýþæö',
	it: 'àèéìòù',
	lt: 'ąčęėįšųūž',
	lv: 'āčēģīķļņšūž',
	mt: 'ċġħżàèìòù',
	pl: 'ąćęłńóśźż',
	pt: 'ãáàâçéêíõóôú',
	ro: 'ăâîșțşţ',
	ru: 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя',
	se: 'áčđŋšŧž',
	sk: 'áäčďéíĺľňóôŕšťúýž',
	sr: 'абвгдђежзијклљмнњопрстћуфхцчџш',
	sv: 'åäöé',
	tr: 'çğıöşüiâ',
	uk: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя',
	vi: 'áàảãạăắằẳẵặâấầẩẫậéèẻẽẹêếềểễệíìỉĩịóòỏõọôốồổỗộơớờởỡợúùủũụưứừửữựýỳỷỹỵđ',
};

/** Charsets that chardet does not detect, in order of preference, and the languages that are written in them. */
const CANDIDATES: Array<[label: string, languages: string[]]> = [
	['windows-1250', ['cs', 'hr', 'hu', 'pl', 'ro', 'sk', 'de']],
	['windows-1252', ['da', 'de', 'es', 'fr', 'is', 'it', 'pt', 'sv']],
	['windows-1251', ['bg', 'ru', 'sr', 'uk']],
	['windows-1255', ['he']],
	['windows-1257', ['et', 'lt', 'lv']],
	['windows-1258', ['vi']],
	['windows-1254', ['tr']],
	['ibm852', ['cs', 'hr', 'hu', 'pl', 'ro', 'sk']],
	['ibm850', ['da', 'de', 'es', 'fr', 'it', 'pt', 'sv']],
	['ibm866', ['bg', 'ru', 'uk']],
	['ibm855', ['bg', 'ru', 'sr']],
	['x-mac-ce', ['cs', 'hu', 'pl', 'sk', 'et', 'lt', 'lv']],
	['macintosh', ['da', 'de', 'es', 'fr', 'is', 'it', 'pt', 'sv']],
	['x-mac-cyrillic', ['bg', 'ru', 'sr', 'uk']],
	['iso-8859-13', ['et', 'lt', 'lv', 'pl']],
	['iso-8859-3', ['eo', 'mt']],
	['iso-8859-4', ['et', 'lt', 'lv', 'se']],
	['iso-8859-10', ['is', 'lt', 'se']],
];

const NEUTRAL = /[\u00a0«»“”„‘’‚–—…§°·•€£©®™²³½¼¾×÷±]/;
const WORD = /[\p{L}\p{M}]{1,60}/gu;
/** Capital letters stand at the beginning of a word, or make up all of it. */
const ODD_CASE = /\p{Ll}\p{Lu}|^\p{Lu}{2,}\p{Ll}/u;
/** A word in two scripts. */
const MIXED_SCRIPTS = /\p{Script=Latin}.*[^\p{Script=Latin}\p{M}]|[^\p{Script=Latin}\p{M}].*\p{Script=Latin}/u;

/** A guess that is better by less than this does not replace another one. */
const MIN_LEAD = 0.08;
const MIN_SCORE = 0.9;

/**
 * The charset in whose letters a text reads as words of a language; null if the present one does as well, or none does.
 * @param present the text in the charset that it would have otherwise
 */
export function betterCharset(
	sample: Uint8Array,
	present: string | null,
	decode: (bytes: Uint8Array, label: string) => string | null,
): string | null {
	let best: string | null = null;
	let bestScore = Math.max(MIN_SCORE, present === null ? 0 : readability(present, Object.keys(ALPHABETS)) + MIN_LEAD);
	for (const [label, languages] of CANDIDATES) {
		const text = decode(sample, label);
		const score = text === null ? 0 : readability(text, languages);
		if (score <= bestScore) continue;
		best = label;
		bestScore = score;
	}
	return best;
}

/** The share of a text's letters besides a to z that are letters of one language, in words in which they can stand; below 0 for signs that no text has. */
function readability(text: string, languages: string[]): number {
	const composed = text.normalize('NFC');
	const counts = new Map<string, number>();
	let total = 0;
	for (const [word] of composed.matchAll(WORD)) {
		const isOdd = ODD_CASE.test(word) || MIXED_SCRIPTS.test(word);
		for (const letter of word.toLowerCase()) {
			if (letter < '\u0080') continue;
			total++;
			if (!isOdd) counts.set(letter, (counts.get(letter) ?? 0) + 1);
		}
	}
	// Other signs beside letters: parts of frames and mathematical signs show another charset.
	for (const sign of composed.match(/[^\p{L}\p{M}\p{ASCII}]/gu) ?? []) total += NEUTRAL.test(sign) ? 0 : 2;
	if (total === 0) return 0;
	const known = languages.map((language) => {
		const alphabet = ALPHABETS[language] ?? '';
		return [...counts].reduce((sum, [letter, count]) => sum + (alphabet.includes(letter) ? count : 0), 0);
	});
	return Math.max(...known) / total;
}
