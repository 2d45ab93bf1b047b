import { detectAll } from 'tinyld/light';
import { croatianOrSerbian, hasLettersOf, languagesOfFunctionWord, letterEvidence } from './language-evidence.ts';
import { STOP_WORD_LANGUAGES, stopWordsOf } from './stop-words.ts';
import { normalise } from './words.ts';

/** The size of each of three samples of a long text: beginning, middle and end, because menus and bibliographies differ from prose. */
const SAMPLE_CHARS = 500;

/** Scripts that determine the language; Han does so only in a text without kana. */
const SCRIPTS: Array<[language: string, letters: RegExp]> = [
	['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
	['ko', /\p{Script=Hangul}/gu],
	['zh', /\p{Script=Han}/gu],
	['th', /\p{Script=Thai}/gu],
	['el', /\p{Script=Greek}/gu],
	['he', /\p{Script=Hebrew}/gu],
	['hi', /\p{Script=Devanagari}/gu],
	['ta', /\p{Script=Tamil}/gu],
	['hy', /\p{Script=Armenian}/gu],
	['ka', /\p{Script=Georgian}/gu],
];
const MIN_SCRIPT_SHARE = 0.2;
const LETTER = /\p{L}/gu;
const MIN_LETTERS = 10;
const LATIN_LETTER = /\p{Script=Latin}/gu;
/** A text in Latin letters without a function word needs this many: the statistics of a few names or figures are chance. */
const MIN_LETTERS_WITHOUT_FUNCTION_WORDS = 60;

/** Function words decide alone if a language has this many points, this share of the words and this lead. */
const MIN_POINTS = 1.5;
const MIN_SHARE = 0.08;
const MIN_LEAD = 1.7;
/** Otherwise function words and letter statistics are combined, and the first language needs this lead. */
const MIN_JOINT_LEAD = 1.3;
const JOINT_CANDIDATES = 6;
/** The languages in Latin script whose letter statistics the detector has. It takes texts in others for the nearest one of these. */
const STATISTICS = new Set('de en es fi fr hu it nl no pl pt ro sv tr'.split(' '));
/** The weight of the statistics of a text whose words are those of a language without any. */
const UNKNOWN_LANGUAGE_FACTOR = 0.25;
const MIN_UNKNOWN_POINTS = 0.75;
/** Points given to no language: one function word alone is weak evidence. */
const PRIOR_POINTS = 1;
/** The bonus for English of a text in ASCII: most other languages need other letters in a longer text. */
const ASCII_ENGLISH_BONUS = 0.25;
const NON_ASCII = /[\u0080-\uffff]/;

/** The language of a text as ISO 639-1, or null if the text is too short or the evidence is weak. */
export function detectLanguage(text: string): string | null {
	const sample = sampleText(text);
	const letters = count(sample, LETTER);
	for (const [language, script] of SCRIPTS) {
		const share = count(sample, script) / letters;
		if (share > MIN_SCRIPT_SHARE || (language === 'ja' && share > MIN_SCRIPT_SHARE / 4)) return language;
	}
	if (letters < MIN_LETTERS) return null;
	const { points, distinct, factors } = scoreWords(sample);
	const [first, second] = [...points].sort((a, b) => b[1] - a[1]);
	const [language, bestPoints] = first ?? ['', 0];
	if (bestPoints >= MIN_POINTS && bestPoints >= MIN_SHARE * distinct && bestPoints >= MIN_LEAD * (second?.[1] ?? 0))
		return language;
	const isLatin = count(sample, LATIN_LETTER) > letters / 2;
	if (isLatin && points.size === 0 && letters < MIN_LETTERS_WITHOUT_FUNCTION_WORDS) return null;
	return combineEvidence(sample, points, factors);
}

/** The different words of a text in lower case, with their accents. */
function wordsAsWritten(text: string): Set<string> {
	return new Set(
		text
			.normalize('NFC')
			.toLowerCase()
			.match(/[\p{L}\p{M}]{1,64}/gu) ?? [],
	);
}

/** The share of each language in the letter statistics, plus its share of the function words. */
function combineEvidence(
	sample: string,
	points: ReadonlyMap<string, number>,
	factors: ReadonlyMap<string, number>,
): string | null {
	// The statistics take the bar between the cells of a table for the full stop of Hindi. Languages of other scripts are excluded.
	const candidates = detectAll(sample.replaceAll('|', ' '))
		.filter(({ lang }) => !SCRIPTS.some(([language]) => language === lang))
		.slice(0, JOINT_CANDIDATES);
	const accuracies = candidates.reduce((sum, choice) => sum + choice.accuracy, 0);
	if (accuracies === 0) return null;
	const allPoints = [...points.values()].reduce((sum, value) => sum + value, PRIOR_POINTS);
	const [best] = [...points].sort((a, b) => b[1] - a[1]);
	const isUnknown = best !== undefined && best[1] >= MIN_UNKNOWN_POINTS && !STATISTICS.has(best[0]);
	const reliability = isUnknown ? UNKNOWN_LANGUAGE_FACTOR : 1;
	const weights = new Map(
		candidates.map(({ lang, accuracy }) => [lang, (accuracy / accuracies) * (factors.get(lang) ?? 1) * reliability]),
	);
	for (const [language, value] of points) weights.set(language, (weights.get(language) ?? 0) + value / allPoints);
	if (!NON_ASCII.test(sample)) weights.set('en', (weights.get('en') ?? 0) + ASCII_ENGLISH_BONUS);
	const [first, second] = [...weights].map(([lang, weight]) => ({ lang, weight })).sort((a, b) => b.weight - a.weight);
	if (first === undefined || first.weight < MIN_JOINT_LEAD * (second?.weight ?? 0)) return null;
	return first.lang;
}

/** The evidence of words: points of each language, and the factors by which the letters of other languages reduce them. */
interface WordEvidence {
	points: Map<string, number>;
	factors: ReadonlyMap<string, number>;
	/** Different words. */
	distinct: number;
}

/**
 * Each distinct function word gives one point, split among the languages that have it, and so does each word with letters besides a to
 * z. Words with letters that a language does not have count against it.
 */
function scoreWords(sample: string): WordEvidence {
	const distinct = wordsAsWritten(sample);
	const { points, factors } = letterEvidence(distinct);
	for (const word of distinct) {
		const languages = languagesOf(word);
		for (const language of languages) points.set(language, (points.get(language) ?? 0) + 1 / languages.length);
	}
	if (points.has('hr') && count(sample, LATIN_LETTER) > 0) {
		const both = (points.get('hr') ?? 0) + (points.get('sr') ?? 0);
		const chosen = croatianOrSerbian(distinct);
		points.delete('hr');
		points.delete('sr');
		points.set(chosen, both);
	}
	for (const [language, value] of points) points.set(language, value * (factors.get(language) ?? 1));
	return { points, factors, distinct: distinct.size };
}

let languagesByStopWord: Map<string, string[]> | undefined;

function languagesOf(word: string): string[] {
	if (languagesByStopWord === undefined) {
		languagesByStopWord = new Map();
		for (const language of STOP_WORD_LANGUAGES) {
			for (const stop of stopWordsOf(language)) {
				// Single letters number lists and name variables in every language.
				if (stop.length > 1) languagesByStopWord.set(stop, [...(languagesByStopWord.get(stop) ?? []), language]);
			}
		}
	}
	const stopWordOf = (languagesByStopWord.get(normalise(word)) ?? []).filter((language) =>
		hasLettersOf(language, word),
	);
	const more = languagesOfFunctionWord(word).filter((language) => !stopWordOf.includes(language));
	return more.length === 0 ? stopWordOf : [...stopWordOf, ...more];
}

function sampleText(text: string): string {
	if (text.length <= 3 * SAMPLE_CHARS) return text;
	const middle = (text.length - SAMPLE_CHARS) >> 1;
	return [text.slice(0, SAMPLE_CHARS), text.slice(middle, middle + SAMPLE_CHARS), text.slice(-SAMPLE_CHARS)].join('\n');
}

function count(text: string, pattern: RegExp): number {
	return text.match(pattern)?.length ?? 0;
}
