import { AppError } from '../base/index.ts';
import type { Block } from './blocks.ts';

/** The maximum number of pages. */
export const MAX_PAGES = 2000;

/** The maximum size of a document's text, in bytes of UTF-8. */
export const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/** Paragraphs, list items, table rows and lines of a PDF page. 10 MB of ordinary text have 50,000 to 200,000. */
export const MAX_BLOCKS = 500_000;

/** Longer titles are cut: the words of the title are kept with every chunk. */
export const MAX_TITLE_CHARACTERS = 500;

/** The error of a document that exceeds a limit. The sentence names the limit. */
export function resourceLimit(sentence: string): AppError {
	return new AppError('resource_limit', sentence);
}

/** Counts a document's text and blocks while it is read, so that a document that is too large is rejected early. */
export class TextBudget {
	#bytes = 0;
	#blocks = 0;

	/** @throws AppError `resource_limit` once there is too much */
	spend(text: string): void {
		this.#bytes += Buffer.byteLength(text);
		this.#blocks++;
		if (this.#bytes > MAX_TEXT_BYTES) {
			throw resourceLimit('The file holds more than 10 MB of text. Split it into smaller files.');
		}
		if (this.#blocks > MAX_BLOCKS) {
			throw resourceLimit(
				`The file has more than ${MAX_BLOCKS.toLocaleString('en')} paragraphs, list items and table rows. Split it into smaller files.`,
			);
		}
	}

	/** Counts complete blocks. */
	spendBlocks(blocks: Block[]): void {
		for (const block of blocks) this.spend(block.text);
	}
}
