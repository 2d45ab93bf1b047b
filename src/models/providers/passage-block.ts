import { createHash } from 'node:crypto';
import type { Passage } from '../chat-model.ts';
import { quoteLines, sanitiseLine } from './untrusted-text.ts';

const MAX_HEADING_CHARS = 200;

/** One passage for a model: a line with its source, and its text and the text around it as a quotation. */
export function renderPassage({ index, title, heading_path, page, text, around }: Passage): string {
	const from = [
		sanitiseLine(title, MAX_HEADING_CHARS),
		...(heading_path.length === 0 ? [] : [`section: ${sanitiseLine(heading_path.join(' > '), MAX_HEADING_CHARS)}`]),
		...(page === null ? [] : [`page ${page}`]),
	];
	const quoted = [around?.before ?? '', text, around?.after ?? ''].filter((part) => part !== '').join('\n');
	return `[${index}] ${from.join(' | ')}\n${quoteLines(quoted)}`;
}

/**
 * Rendered passages between delimiters that no text in them can close. Every line of a text is marked as a quotation, text
 * that looks like a delimiter is escaped, and the key in the delimiters is a hash of the whole content, so no author of a
 * document can know it. The same content gives the same block.
 */
export function passageBlock(rendered: readonly string[]): string {
	const content = rendered.join('\n\n');
	const key = createHash('sha256').update(content).digest('hex').slice(0, 16);
	return `<passages-${key}>\n${content}\n</passages-${key}>`;
}
