/** Labels of the button in each language of the widget: open, close. */
const BUTTON = {
	en: ['Open chat', 'Close chat'],
	de: ['Chat öffnen', 'Chat schließen'],
	fr: ['Ouvrir le chat', 'Fermer le chat'],
	es: ['Abrir el chat', 'Cerrar el chat'],
	nl: ['Chat openen', 'Chat sluiten'],
	pt: ['Abrir o chat', 'Fechar o chat'],
	ja: ['チャットを開く', 'チャットを閉じる'],
	ar: ['فتح الدردشة', 'إغلاق الدردشة'],
} as const;

export type Language = keyof typeof BUTTON;

/** The language of the first of these BCP 47 tags that the widget has, without regard to region; otherwise English. */
export function chooseLanguage(wanted: readonly (string | undefined)[]): Language {
	for (const tag of wanted) {
		const language = tag?.toLowerCase().split(/[-_]/)[0] as Language;
		if (Object.hasOwn(BUTTON, language)) return language;
	}
	return 'en';
}

/** The label of the button. */
export function buttonLabel(language: Language, isOpen: boolean): string {
	return BUTTON[language][isOpen ? 1 : 0];
}

/** The direction in which a language is written. */
export function directionOf(language: Language): 'ltr' | 'rtl' {
	return language === 'ar' ? 'rtl' : 'ltr';
}
