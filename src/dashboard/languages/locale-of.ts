/**
 * The locale of numbers and dates in a language: the browser's first one of this language, for example `en-GB`, else the language.
 * @param tags the BCP 47 tags that the browser prefers
 */
export function localeOf(language: string, tags: readonly string[]): string {
	return tags.find((tag) => tag.toLowerCase().split('-')[0] === language) ?? language;
}
