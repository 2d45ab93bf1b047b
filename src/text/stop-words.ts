import { stopwords as ar } from '@orama/stopwords/arabic';
import { stopwords as hy } from '@orama/stopwords/armenian';
import { stopwords as bg } from '@orama/stopwords/bulgarian';
import { stopwords as da } from '@orama/stopwords/danish';
import { stopwords as nl } from '@orama/stopwords/dutch';
import { stopwords as en } from '@orama/stopwords/english';
import { stopwords as fi } from '@orama/stopwords/finnish';
import { stopwords as fr } from '@orama/stopwords/french';
import { stopwords as de } from '@orama/stopwords/german';
import { stopwords as el } from '@orama/stopwords/greek';
import { stopwords as hu } from '@orama/stopwords/hungarian';
import { stopwords as id } from '@orama/stopwords/indonesian';
import { stopwords as ga } from '@orama/stopwords/irish';
import { stopwords as it } from '@orama/stopwords/italian';
import { stopwords as ja } from '@orama/stopwords/japanese';
import { stopwords as lt } from '@orama/stopwords/lithuanian';
import { stopwords as zh } from '@orama/stopwords/mandarin';
import { stopwords as no } from '@orama/stopwords/norwegian';
import { stopwords as pt } from '@orama/stopwords/portuguese';
import { stopwords as ro } from '@orama/stopwords/romanian';
import { stopwords as ru } from '@orama/stopwords/russian';
import { stopwords as sr } from '@orama/stopwords/serbian';
import { stopwords as es } from '@orama/stopwords/spanish';
import { stopwords as sv } from '@orama/stopwords/swedish';
import { stopwords as ta } from '@orama/stopwords/tamil';
import { stopwords as tr } from '@orama/stopwords/turkish';
import { stopwords as uk } from '@orama/stopwords/ukrainian';
import { words } from './words.ts';

const LISTS: Record<string, string[]> = {
	ar,
	hy,
	bg,
	zh,
	da,
	nl,
	en,
	fi,
	fr,
	de,
	el,
	hu,
	id,
	ga,
	it,
	ja,
	lt,
	no,
	nb: no,
	nn: no,
	pt,
	ro,
	ru,
	sr,
	hr: sr,
	es,
	sv,
	ta,
	tr,
	uk,
};

/** The languages that have a list (ISO 639-1). */
export const STOP_WORD_LANGUAGES: readonly string[] = Object.keys(LISTS).filter(
	(code) => code !== 'nb' && code !== 'nn' && code !== 'hr',
);

/** Interrogatives in the lists. They are not stop words, because a title often is the visitor's question itself. */
const INTERROGATIVES: Record<string, string> = {
	en: 'who what when where why how which can should',
	de: 'wer was wann wo warum wie welche welcher welches kann soll sollte',
	fr: 'qui quand pourquoi comment quel quelle quels quelles combien peut',
	es: 'quien que cuando donde porque como cual cuales cuanto puede',
	it: 'chi cosa quando dove perche come quale quali quanto puo',
	pt: 'quem que quando onde porque como qual quais quanto pode',
	nl: 'wie wat wanneer waar waarom hoe welke kan moet',
};

const sets = new Map<string, ReadonlySet<string>>();
const interrogatives = new Map(Object.entries(INTERROGATIVES).map(([code, list]) => [code, new Set(list.split(' '))]));

/** The normalised stop words of a language. Empty for an unknown language. */
export function stopWordsOf(language: string | null): ReadonlySet<string> {
	const key = language ?? '';
	let set = sets.get(key);
	if (set === undefined) {
		set = new Set((LISTS[key] ?? []).flatMap(words).filter((word) => !isInterrogative(word, language)));
		sets.set(key, set);
	}
	return set;
}

/** Whether a normalised word is an interrogative of a language. */
export function isInterrogative(word: string, language: string | null): boolean {
	return interrogatives.get(language ?? '')?.has(word) ?? false;
}
