import { separateCharacters } from '../../../base/index.ts';

const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;
const NOT_ASCII = /[\u0080-\u{10ffff}]/gu;
/** Marks that the folding removes. Other marks distinguish letters, as vowels of Indic scripts do. */
const REMOVED_MARK = /^[\u0300-\u0304\u0306-\u030c\u030f\u0311\u031b\u0323-\u0328\u032d\u032e\u0330\u0331]$/;
const LATIN_LETTER_WITH_MARKS = /^([a-z])\p{M}+$/u;

/**
 * The words of a text, in order, as the tokenizer `unicode61 remove_diacritics 2` of SQLite makes them: without case, and Latin letters
 * without marks. Letters and emoji that are newer than the tables of SQLite are as in Unicode. Each character of a script without
 * spaces between words is a word. A word may be empty: a mark that stands alone.
 */
export function wordsOf(text: string): string[] {
	return Array.from(separateCharacters(text).matchAll(WORD), ([word]) => foldWord(word));
}

function foldWord(word: string): string {
	return word.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()).replaceAll(NOT_ASCII, foldCharacter);
}

const folded = new Map<string, string>();

function foldCharacter(character: string): string {
	let result = folded.get(character);
	if (result === undefined) {
		result = REMOVED_MARK.test(character) ? '' : withoutMarks(withoutCase(character));
		folded.set(character, result);
	}
	return result;
}

/** Simple case folding: one character becomes one. It is the lower case of the upper case, so that `ς` becomes `σ`. */
function withoutCase(character: string): string {
	const upper = character.toUpperCase();
	const isSimple = upper.length === character.length && character !== 'ı';
	return (isSimple ? upper : character).toLowerCase();
}

function withoutMarks(character: string): string {
	return LATIN_LETTER_WITH_MARKS.exec(character.normalize('NFD'))?.[1] ?? character;
}
