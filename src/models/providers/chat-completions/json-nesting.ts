/** Detects whether a growing JSON text contains a complete object or list. It reads each character once. */
export class JsonNesting {
	#at = 0;
	#depth = 0;
	#isInString = false;
	#isEscaped = false;
	#isComplete = false;

	/** @param text the text of the call before, or that text with more at its end */
	isComplete(text: string): boolean {
		for (; this.#at < text.length && !this.#isComplete; this.#at++) this.#take(text[this.#at] as string);
		return this.#isComplete;
	}

	#take(character: string): void {
		if (this.#isInString) {
			if (this.#isEscaped) this.#isEscaped = false;
			else if (character === '\\') this.#isEscaped = true;
			else if (character === '"') this.#isInString = false;
		} else if (character === '"') this.#isInString = true;
		else if (character === '{' || character === '[') this.#depth++;
		else if (character === '}' || character === ']') {
			this.#depth--;
			this.#isComplete = this.#depth === 0;
		}
	}
}
