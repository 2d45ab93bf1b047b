import { computed, signal } from '@preact/signals';
import { localeOf } from './locale-of.ts';
import type { Strings } from './strings.ts';
import { keepLanguage, type Language, wantedLanguage } from './wanted-language.ts';

export type { Strings } from './strings.ts';
export { LANGUAGES, type Language } from './wanted-language.ts';

const LOADERS: { [L in Language]: () => Promise<{ default: Strings }> } = {
	en: () => import('./en/index.ts'),
	de: () => import('./de/index.ts'),
};

export const language = signal<Language>('en');
/** The locale of numbers and dates: a BCP 47 tag. */
export const locale = computed(() => localeOf(language.value, navigator.languages));
const loaded = signal<Strings | null>(null);

/** All texts in the language of the dashboard. */
export function strings(): Strings {
	if (loaded.value === null) throw new Error('No language is loaded.');
	return loaded.value;
}

/** Loads the language that the person chose, else the browser's, else English. */
export async function loadLanguage(): Promise<void> {
	await showLanguage(wantedLanguage());
}

/** Changes the language and keeps the choice in this browser. */
export async function chooseLanguage(chosen: Language): Promise<void> {
	keepLanguage(chosen);
	await showLanguage(chosen);
}

async function showLanguage(shown: Language): Promise<void> {
	const { default: texts } = await LOADERS[shown]();
	language.value = shown;
	loaded.value = texts;
	document.documentElement.lang = shown;
}

/** Replaces the names in braces: `fill('{n} files', { n: 3 })`. Numbers are written as the language does. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
	return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
		const value = values[name];
		if (value === undefined) return whole;
		return typeof value === 'number' ? value.toLocaleString(locale.value) : value;
	});
}

/** A text with a number in it, in its singular or plural form. */
export function count({ one, other }: { one: string; other: string }, n: number): string {
	return fill(new Intl.PluralRules(language.value).select(n) === 'one' ? one : other, { n });
}
