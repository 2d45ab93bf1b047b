/** Events that wait to be sent in one write: as text, or as bytes that other streams send as well. */
export class ReadyEvents {
	#text = '';
	#pieces: Uint8Array[] = [];
	#bytes = 0;

	/** Characters and bytes that wait. */
	get length(): number {
		return this.#text.length + this.#bytes;
	}

	get isEmpty(): boolean {
		return this.length === 0;
	}

	add(piece: string | Uint8Array): void {
		if (typeof piece === 'string') {
			this.#text += piece;
			return;
		}
		this.#closeText();
		this.#pieces.push(piece);
		this.#bytes += piece.length;
	}

	/** All of them, in order. */
	take(): string | Uint8Array {
		const text = this.#text;
		if (this.#bytes === 0) {
			this.#text = '';
			return text;
		}
		this.#closeText();
		const pieces = this.#pieces;
		this.#pieces = [];
		this.#bytes = 0;
		return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
	}

	#closeText(): void {
		if (this.#text === '') return;
		const bytes = Buffer.from(this.#text);
		this.#text = '';
		this.#pieces.push(bytes);
		this.#bytes += bytes.length;
	}
}
