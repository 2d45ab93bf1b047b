const NON_ASCII = /[^\0-\x7f]/;
const VARIANTS = /\p{Nd}|\p{Pd}|\p{Zs}|[\u2212\uff0b\uff20\uff0e\uff08\uff09\uff0f]/gu;
const ASCII_OF: Readonly<Record<string, string>> = {
	'\u2212': '-',
	'\uff0b': '+',
	'\uff20': '@',
	'\uff0e': '.',
	'\uff08': '(',
	'\uff09': ')',
	'\uff0f': '/',
};

/** The text with ASCII digits, dashes and spaces in place of those of other scripts. Every code unit keeps its position. */
export function comparableText(text: string): string {
	if (!NON_ASCII.test(text)) return text;
	return text.replace(VARIANTS, (character) => {
		// A character of two code units would move the text behind it.
		if (character.length > 1 || character <= '\x7f') return character;
		const known = ASCII_OF[character];
		if (known !== undefined) return known;
		if (/\p{Nd}/u.test(character)) return digitOf(character);
		return /\p{Pd}/u.test(character) ? '-' : ' ';
	});
}

/** Unicode has the ten digits of a script in a row, from zero on. */
function digitOf(character: string): string {
	let value = 0;
	while (value < 9 && /\p{Nd}/u.test(String.fromCharCode(character.charCodeAt(0) - value - 1))) value++;
	return String(value);
}
