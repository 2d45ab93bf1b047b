import { codeOf, type Question } from '../question/question.ts';
import type { Source } from './source.ts';

/** Whether a text, or the headings above it, have all codes that the question names. */
export function hasCodesOf({ codes }: Question, { passage }: Source, text: string): boolean {
	if (codes.length === 0) return true;
	const words = [passage.title, ...passage.heading_path, text].join(' ').split(/[^\p{L}\p{N}-]+/u);
	const found = new Set(words.map(codeOf));
	return codes.every((code) => found.has(code));
}
