export type Language = 'en' | 'de';

export const LANGUAGES: readonly { value: Language; label: string }[] = [
	{ value: 'en', label: 'English' },
	{ value: 'de', label: 'Deutsch' },
];

/** Where the person's choice is kept. */
const STORAGE_KEY = 'parley-language';

/** The language that the person chose, else the browser's, else English. */
export function wantedLanguage(): Language {
	for (const tag of [localStorage.getItem(STORAGE_KEY), ...navigator.languages]) {
		const found = tag?.toLowerCase().split('-')[0];
		const known = LANGUAGES.find(({ value }) => value === found);
		if (known !== undefined) return known.value;
	}
	return 'en';
}

/** Keeps the choice in this browser. */
export function keepLanguage(chosen: Language): void {
	localStorage.setItem(STORAGE_KEY, chosen);
}
