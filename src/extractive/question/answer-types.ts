import type { SpokenLanguage } from '../spoken-language.ts';
import { type AnswerType, CUES, type TypeCue } from './answer-type-cues.ts';
import { countPatternOf } from './values.ts';

/** The types of answer that a question asks for; none for most yes-or-no questions. */
export function expectedAnswerTypes(question: string, language: SpokenLanguage): Set<AnswerType> {
	const text = question.toLowerCase();
	const cues = Object.entries(CUES[language]) as Array<[AnswerType, TypeCue]>;
	const types = new Set(cues.filter(([, { asks }]) => asks.test(text)).map(([type]) => type));
	// The narrower type decides: a mail address is no place, and a price is a number.
	if (types.has('email')) types.delete('place');
	if (types.has('phone')) types.delete('number');
	if (types.has('price') || types.has('duration') || types.has('age')) types.delete('number');
	if (types.has('age')) types.delete('duration');
	if (types.has('price')) types.delete('steps');
	// `When can I phone …`
	if (types.has('time')) {
		types.delete('phone');
		types.delete('email');
	}
	return types;
}

/** The words that a value of a type answers, in a language. */
export function wordsOfType(type: AnswerType, language: SpokenLanguage): string {
	return CUES[language][type]?.words ?? '';
}

/** How each spaced language asks for a number of things. The group matches the things. */
const COUNT_QUESTIONS: Partial<Record<SpokenLanguage, RegExp>> = {
	en: /\bhow many (\p{L}+)/u,
	de: /\bwie ?viele?[rn]? (\p{L}+)/u,
	fr: /\bcombien (?:de |d['’])(\p{L}+)/u,
	es: /\bcu[áa]nt[oa]s (\p{L}+)/u,
	nl: /\bhoeveel (\p{L}+)/u,
	pt: /\bquant[oa]s (\p{L}+)/u,
	it: /\bquant[ie] (\p{L}+)/u,
};

/** Finds the number of things that a question asks for; null if it asks for none. */
export function countPattern(question: string, language: SpokenLanguage): RegExp | null {
	const thing = COUNT_QUESTIONS[language]?.exec(question.toLowerCase())?.[1];
	return thing === undefined ? null : countPatternOf(thing);
}
