/** Pieces of a body below this size are copied as usual: a hostile body can have very many of them. */
const MIN_BUFFER_BYTES = 64 * 1024;
/** The largest buffer that is kept. The HTTP library delivers at most 512 KiB at once. */
const MAX_BUFFER_BYTES = 512 * 1024;
/** Bytes of the unused buffers of one size. */
const MAX_UNUSED_BYTES = 4 * 1024 * 1024;
/** Bytes of the buffers in use that are expected back, of all uploads. Uploads that stall hold no more than this. */
const MAX_EXPECTED_BYTES = 32 * 1024 * 1024;

/**
 * Unused buffers, by size. With a new buffer for each piece, fast uploads leave a hundred megabytes of garbage a second outside of the heap.
 * V8 then collects all garbage several times a second, and all requests wait meanwhile.
 */
const unused = new Map<number, ArrayBufferLike[]>();
let expectedBytes = 0;

/** Copies of the bytes of a body. Their buffers are used again once their bytes are consumed. */
export class UploadCopies {
	/** Copies whose buffers are expected back. Other buffers are left to the garbage collector. */
	#expected: Array<{ buffer: ArrayBufferLike; endOffset: number }> = [];
	#hasEnded = false;
	#copiedBytes = 0;
	#consumedFileBytes = 0;

	/** Copies the next bytes of the body. The copy is valid until `consume` has counted as many bytes as the body has up to the copy's end. */
	copy(bytes: Uint8Array): Buffer {
		this.#copiedBytes += bytes.length;
		if (bytes.length < MIN_BUFFER_BYTES || bytes.length > MAX_BUFFER_BYTES) return Buffer.from(bytes);
		const size = sizeFor(bytes.length);
		const buffer = unused.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size).buffer;
		const copy = Buffer.from(buffer, 0, bytes.length);
		copy.set(bytes);
		if (!this.#hasEnded && expectedBytes + size <= MAX_EXPECTED_BYTES) {
			expectedBytes += size;
			this.#expected.push({ buffer, endOffset: this.#copiedBytes });
		}
		return copy;
	}

	/**
	 * The reader of a file has finished with its next bytes. Files are read one after the other, in the order of the body, and the parser
	 * keeps no view of bytes that it has passed. The Nth byte of the files lies behind the Nth byte of the body, so once N are consumed,
	 * the first N bytes of the body are not read any more.
	 */
	consume(fileBytes: number): void {
		this.#consumedFileBytes += fileBytes;
		for (let first = this.#expected[0]; first !== undefined; first = this.#expected[0]) {
			if (first.endOffset > this.#consumedFileBytes) return;
			this.#expected.shift();
			expectedBytes -= first.buffer.byteLength;
			keep(first.buffer);
		}
	}

	/** The body has ended or failed: no buffer is expected back any more, because a write may still be under way. */
	forget(): void {
		this.#hasEnded = true;
		for (const { buffer } of this.#expected) expectedBytes -= buffer.byteLength;
		this.#expected = [];
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
	const ofSize = unused.get(size) ?? [];
	if ((ofSize.length + 1) * size > MAX_UNUSED_BYTES) return;
	ofSize.push(buffer);
	unused.set(size, ofSize);
}
