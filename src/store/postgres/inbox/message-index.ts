import { DAY_MS } from '../../../base/index.ts';
import type { SearchTerm } from '../../inbox.ts';
import { wordsOf } from './words.ts';

/** A lexeme of PostgreSQL has at most 2,046 bytes; longer words are indexed by their beginning. A character is at most three bytes. */
const MAX_LEXEME_CHARS = 500;

/**
 * The lengths of the periods that a search reads one after the other (days). PostgreSQL reads all messages of an index that match before
 * it gives the newest, so a search for a frequent word reads a day, and one for a rare word soon reads everything.
 */
export const PERIOD_DAYS = [1, 16, 256] as const;

/** What the index has of a message. */
export interface IndexEntry {
	/** The words in their order, each between spaces: phrases are found in it. */
	words: string;
	/** The same words, each once, with those that `placeLexeme` and `periodLexeme` make. */
	lexemes: string[];
}

/** No word begins with this character, so no beginning of a word finds these lexemes. */
const PLACE_MARK = '_';

/** The workspace of a message as a word of the index. */
export function placeLexeme(workspaceId: string): string {
	return `${PLACE_MARK}${workspaceId}`;
}

/** The period that a time is in, as a word of the index. */
export function periodLexeme(days: number, at: number): string {
	return `${PLACE_MARK}${days}/${Math.floor(at / DAY_MS / days)}`;
}

/** The beginning of the period that a time is in (ms since the epoch). */
export function periodStart(days: number, at: number): number {
	return Math.floor(at / DAY_MS / days) * days * DAY_MS;
}

export function indexEntry(workspaceId: string, createdAt: number, text: string): IndexEntry {
	const words = wordsOf(text);
	const lexemes = new Set(words.map((word) => word.slice(0, MAX_LEXEME_CHARS)));
	lexemes.delete('');
	lexemes.add(placeLexeme(workspaceId));
	for (const days of PERIOD_DAYS) lexemes.add(periodLexeme(days, createdAt));
	return { words: ` ${words.join(' ')} `, lexemes: [...lexemes] };
}

/** The terms of a search as the index is asked for them. */
export interface IndexQuery {
	/** Parts of a `tsquery`: a message has all of them. */
	parts: string[];
	/** Parts of the words of a message, where lexemes do not suffice: words that follow each other, and long words. */
	phrases: string[];
}

/** Null: no message has these terms. */
export function indexQuery(terms: readonly SearchTerm[]): IndexQuery | null {
	const query: IndexQuery = { parts: [], phrases: [] };
	for (const { text, isPrefix } of terms) {
		const words = wordsOf(text);
		if (words.every((word) => word === '')) return null;
		for (const [position, word] of words.entries()) {
			if (word === '') continue;
			const isBeginning = isPrefix && position === words.length - 1;
			query.parts.push(`${quoteLexeme(word.slice(0, MAX_LEXEME_CHARS))}${isBeginning ? ':*' : ''}`);
		}
		if (words.length > 1 || words.some((word) => word.length >= MAX_LEXEME_CHARS)) {
			query.phrases.push(` ${words.join(' ')}${isPrefix ? '' : ' '}`);
		}
	}
	return query;
}

/** A lexeme in a `tsquery`. Words have no quotes and no backslashes. */
export function quoteLexeme(lexeme: string): string {
	return `'${lexeme}'`;
}
