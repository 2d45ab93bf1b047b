import { PLACEHOLDER, startOfBegunPlaceholder } from './placeholder-pattern.ts';
import type { Placeholders } from './placeholders.ts';

/** Characters of the line before a placeholder that decide whether it is in an address. */
const MAX_LINE_CHARS = 4_000;
/** What makes a word an address or the target of a link or image in Markdown. */
const ADDRESS = /\/\/|www\.|\]\(|\]:|(?:mailto|tel|sms|data|javascript):|[\p{L}\d-]\.\p{L}{2,}\//iu;
/** The address of the value itself: `mailto:[EMAIL_1]`, which Markdown may have as the target of a link. */
const OWN_ADDRESS = /^(?:[^/]*\]\(|[<(]?)(?:mailto|tel):$/i;
/** A target in angle brackets may have spaces. */
const BRACKETED_TARGET = /\][(:]\s{0,9}</;

/**
 * Puts values in place of the placeholders of a text that arrives in pieces. A piece is held back only as far as its end may be
 * the beginning of a placeholder. In addresses placeholders stay: documents and tools could make a model write a link or an image
 * that takes the value to another server.
 */
export class PlaceholderRestorer {
	readonly #placeholders: Placeholders;
	#held = '';
	/** The present line of the model's text. */
	#line = '';

	constructor(placeholders: Placeholders) {
		this.#placeholders = placeholders;
	}

	/** The text that can be shown with this piece; may be empty. */
	add(piece: string): string {
		if (this.#placeholders.isEmpty) return piece;
		const text = this.#held + piece;
		const end = startOfBegunPlaceholder(text);
		this.#held = text.slice(end);
		return this.#restore(text.slice(0, end));
	}

	/** The rest at the end of the text. */
	end(): string {
		const text = this.#held;
		this.#held = '';
		return this.#restore(text);
	}

	#restore(text: string): string {
		let restored = '';
		let from = 0;
		for (const { 0: written, 1: name, 2: number, index } of text.matchAll(PLACEHOLDER)) {
			this.#readLine(text.slice(from, index));
			restored += text.slice(from, index);
			const value = this.#placeholders.valueOf(`[${name}_${number}]`);
			const isLinkText = written.endsWith(']') && text.startsWith('(', index + written.length);
			if (value === undefined || isInAddress(this.#line)) restored += written;
			else restored += isLinkText ? `[${value}]` : value;
			this.#readLine(written);
			from = index + written.length;
		}
		this.#readLine(text.slice(from));
		return restored + text.slice(from);
	}

	#readLine(text: string): void {
		const newline = text.lastIndexOf('\n');
		this.#line = newline < 0 ? this.#line + text : text.slice(newline + 1);
		if (this.#line.length > 2 * MAX_LINE_CHARS) this.#line = this.#line.slice(-MAX_LINE_CHARS);
	}
}

function isInAddress(line: string): boolean {
	const word = line.slice(-MAX_LINE_CHARS).split(/\s/).at(-1) as string;
	if (word.length === MAX_LINE_CHARS) return true;
	const unescaped = line.replace(/\\./g, '');
	if (BRACKETED_TARGET.test(unescaped.slice(unescaped.lastIndexOf('>') + 1))) return true;
	return ADDRESS.test(word) && !OWN_ADDRESS.test(word);
}
