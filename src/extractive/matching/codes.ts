import { codesIn, type Question } from '../question/question.ts';
import type { Matches, TermSpace } from './term-space.ts';

/** The letters before the digits: codes of one series have the same. */
const SERIES = /^\p{L}+/u;

/**
 * Whether a part is about all codes that the question names. For each code the nearest text with codes of its series decides, so a
 * row about E1 is no answer about E3 under the heading `Error codes E1–E3`.
 * @param texts the part itself, then the names above it, nearest first
 */
export function hasCodesOf({ codes }: Question, texts: readonly string[]): boolean {
	return codes.every((asked) => {
		const series = SERIES.exec(asked)?.[0];
		for (const [distance, text] of texts.entries()) {
			const found = codesIn(text).filter((code) => SERIES.exec(code)?.[0] === series);
			// A heading with several codes does not say which one a part is about.
			if (found.length > 0) return (distance === 0 || found.length === 1) && found.some((code) => isCode(asked, code));
		}
		return false;
	});
}

/** Whether a text has a code that neither the others nor the question have. */
export function hasOtherCodes(text: string, others: readonly string[], { codes }: Question): boolean {
	const known = [...codes, ...others.flatMap(codesIn)];
	return codesIn(text).some((code) => !known.includes(code));
}

/** The matches of a text with those of the codes that it names by a range: `E1–E4`. */
export function withCodes(matches: Matches, text: string, { question, terms }: TermSpace): Matches {
	if (question.codes.length === 0) return matches;
	const named = codesIn(text).filter((code) => question.codes.includes(code));
	return named.length === 0
		? matches
		: matches.map((match, i) => (codesIn(terms[i]?.term ?? '').some((code) => named.includes(code)) ? 1 : match));
}

/** `HB170-2` is a kind of `HB170`, but not the reverse. */
function isCode(asked: string, found: string): boolean {
	return found === asked || found.startsWith(`${asked}-`);
}
