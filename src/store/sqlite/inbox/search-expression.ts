import { separateCharacters } from '../../../base/index.ts';
import type { SearchTerm } from '../../inbox.ts';

/** Characters that have a meaning within a quoted term; NUL would end the expression. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is meant.
const SPECIAL = /["\u0000]/g;

/** The terms in the language of FTS5, in the messages of a workspace or of a conversation. */
export function searchExpression(id: string, terms: readonly SearchTerm[]): string {
	const words = terms.map(
		({ text, isPrefix }) => `"${separateCharacters(text.replaceAll(SPECIAL, ' '))}"${isPrefix ? ' *' : ''}`,
	);
	return `place : "${id.replaceAll('_', '')}" AND text : (${words.join(' AND ')})`;
}
