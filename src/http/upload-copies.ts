/** Sizes of the smallest buffer, and of the largest that is kept: the HTTP library delivers at most that much at once. */
const MIN_BUFFER_BYTES = 16 * 1024;
const MAX_BUFFER_BYTES = 512 * 1024;
/** All unused buffers that are kept. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;
/** Copies of a body that may be taken back later. Without a reader the others are garbage. */
const MAX_COPIES = 64;

/**
 * Unused buffers, by their size. New ones for each upload would be a hundred megabytes of garbage a second outside of the heap. V8 collects
 * all garbage because of that, several times a second, and all requests wait for it.
 */
const unused = new Map<number, ArrayBufferLike[]>();
let unusedBytes = 0;

/** Copies of the bytes of a body, in buffers that are used again once the bytes are consumed. */
export class UploadCopies {
	#copies: Array<{ copy: Buffer; endOffset: number }> = [];
	#copiedBytes = 0;
	#consumedFileBytes = 0;

	/** Copies the next bytes of the body. The copy is valid until `consume` has been called with as many bytes of files. */
	copy(bytes: Uint8Array): Buffer {
		const size = sizeFor(bytes.length);
		const buffer = unused.get(size)?.pop();
		if (buffer !== undefined) unusedBytes -= size;
		const copy = Buffer.from(buffer ?? Buffer.allocUnsafeSlow(size).buffer, 0, bytes.length);
		copy.set(bytes);
		this.#copiedBytes += bytes.length;
		this.#copies.push({ copy, endOffset: this.#copiedBytes });
		if (this.#copies.length > MAX_COPIES) this.#copies.shift();
		return copy;
	}

	/**
	 * The next bytes of a file are consumed. A body has more bytes than its files and has them in their order: once N bytes of files are
	 * consumed, the first N bytes of the body have passed.
	 */
	consume(fileBytes: number): void {
		this.#consumedFileBytes += fileBytes;
		for (let first = this.#copies[0]; first !== undefined; first = this.#copies[0]) {
			if (first.endOffset > this.#consumedFileBytes) return;
			this.#copies.shift();
			keep(first.copy.buffer);
		}
	}
}

/** The next power of two. */
function sizeFor(bytes: number): number {
	let size = MIN_BUFFER_BYTES;
	while (size < bytes) size *= 2;
	return size;
}

function keep(buffer: ArrayBufferLike): void {
	const size = buffer.byteLength;
	if (size > MAX_BUFFER_BYTES || unusedBytes + size > MAX_KEPT_BYTES) return;
	const ofSize = unused.get(size);
	if (ofSize === undefined) unused.set(size, [buffer]);
	else ofSize.push(buffer);
	unusedBytes += size;
}
