/** Events that wait to be sent in one write: as text, or as bytes that several streams share. */
export class EventBatch {
	#text = '';
	/** Made when it is needed: most streams never have any. */
	#chunks: Uint8Array[] | null = null;
	#bytes = 0;

	/** Characters and bytes in the batch. */
	get length(): number {
		return this.#text.length + this.#bytes;
	}

	get isEmpty(): boolean {
		return this.length === 0;
	}

	add(chunk: string | Uint8Array): void {
		if (typeof chunk === 'string') {
			this.#text += chunk;
			return;
		}
		this.#flushText();
		this.#addBytes(chunk);
	}

	/** Removes and returns all events, in order. */
	drain(): string | Uint8Array {
		const text = this.#text;
		if (this.#bytes === 0) {
			this.#text = '';
			return text;
		}
		this.#flushText();
		const chunks = this.#chunks ?? [];
		this.#chunks = null;
		this.#bytes = 0;
		return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
	}

	#flushText(): void {
		if (this.#text === '') return;
		const bytes = Buffer.from(this.#text);
		this.#text = '';
		this.#addBytes(bytes);
	}

	#addBytes(bytes: Uint8Array): void {
		this.#chunks ??= [];
		this.#chunks.push(bytes);
		this.#bytes += bytes.length;
	}
}
