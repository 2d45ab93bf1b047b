/** The languages of the phrases. A question in any other language is answered in English. */
export type SpokenLanguage = 'en' | 'de' | 'fr' | 'es' | 'nl' | 'pt' | 'it' | 'ja' | 'ar';
