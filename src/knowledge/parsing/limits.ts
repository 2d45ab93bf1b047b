import { AppError } from '../../base/index.ts';
import type { Block } from './blocks.ts';

/** More pages than this are refused. */
export const MAX_PAGES = 2000;

/** More text than this, in bytes of UTF-8, is refused. */
export const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/** Counts a document's text while it is read, so that one that is too large is given up early. */
export class TextBudget {
	#bytes = 0;

	/** @throws AppError `unreadable_file` once there is too much */
	take(text: string): void {
		this.#bytes += Buffer.byteLength(text);
		if (this.#bytes > MAX_TEXT_BYTES) {
			throw new AppError('unreadable_file', 'The file holds more than 10 MB of text. Split it into smaller files.');
		}
	}

	/** The same for blocks that are there already. */
	takeBlocks(blocks: Block[]): void {
		for (const block of blocks) this.take(block.text);
	}
}
