/** Scripts whose words are not separated by spaces, and Hangul, whose words have endings. Marks stay with their letter. */
const CHARACTER =
	/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/gu;
const MAY_HAVE_ONE = /[\u0e00-\uffff]/;

/**
 * The text with spaces around each character of scripts without spaces between words: `返品の期限` becomes five words. An index of
 * words then finds any sequence of characters as a phrase.
 */
export function separateCharacters(text: string): string {
	return MAY_HAVE_ONE.test(text) ? text.replace(CHARACTER, ' $& ') : text;
}
