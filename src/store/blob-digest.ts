import { createHash } from 'node:crypto';

const HEAD_BYTES = 64 * 1024;

/** What is known of bytes once they have arrived. */
export interface DigestedBlob {
	/** SHA-256, hexadecimal. */
	hash: string;
	size: number;
	/** At most the first 64 KiB. */
	head: Buffer;
}

/** Hashes and counts bytes while they arrive, and keeps the first ones. */
export class BlobDigest {
	readonly #hash = createHash('sha256');
	readonly #head: Buffer[] = [];
	#headSize = 0;
	#size = 0;

	update(piece: Uint8Array): void {
		this.#hash.update(piece);
		this.#size += piece.length;
		if (this.#headSize >= HEAD_BYTES) return;
		const first = Buffer.from(piece.subarray(0, HEAD_BYTES - this.#headSize));
		this.#head.push(first);
		this.#headSize += first.length;
	}

	/** Call it once, after the last bytes. */
	end(): DigestedBlob {
		return { hash: this.#hash.digest('hex'), size: this.#size, head: Buffer.concat(this.#head) };
	}
}
