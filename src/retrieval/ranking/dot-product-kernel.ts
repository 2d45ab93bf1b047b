/** What is used of WebAssembly, which the types of Node do not know. */
declare const WebAssembly: {
	validate(code: Uint8Array): boolean;
	Module: new (code: Uint8Array) => object;
	Instance: new (module: object) => { exports: unknown };
};

/**
 * What the code below exports. Addresses and steps are in bytes; a row takes `step` of them, which is a multiple of 16.
 * `others` moves on by `othersStep` after each row: 0 for the same one each time. A 32-bit sum a row goes to `sums`.
 */
interface KernelExports {
	memory: { buffer: ArrayBuffer };
	multiply(rows: number, rowsEnd: number, step: number, others: number, othersStep: number, sums: number): void;
}

/** Values that one instruction multiplies. */
export const SIMD_LANES = 16;

/** Rows are brought under the kernel in windows that stay in the processor's cache; the rest lies around them. */
const WINDOW_BYTES = 256 * 1024;
/** As many dimensions as fit between. */
const OPERAND_BYTES = 64 * 1024;
const SUMS_OFFSET = WINDOW_BYTES + OPERAND_BYTES;
/** Sums of a window of the shortest rows. */
const SUMS_BYTES = (WINDOW_BYTES / SIMD_LANES) * 4;
const PAGE_BYTES = 64 * 1024;
const PAGES = (SUMS_OFFSET + SUMS_BYTES) / PAGE_BYTES;

/**
 * The function of a WebAssembly module (core specification 2.0, binary format), written by hand because JavaScript has no instruction that
 * multiplies many eight-bit values at once: 100,000 vectors of 256 take some 3 ms instead of the 58 ms that sqlite-vec takes.
 */
const MULTIPLY = [
	[0x02, 0x02, 0x7f, 0x03, 0x7b], // locals: 6 end of the row, 7 at in the others (i32); 8 sum, 9 and 10 values (v128)
	[0x02, 0x40, 0x03, 0x40], // block, loop: for each row
	[0x20, 0x00, 0x20, 0x01, 0x4f, 0x0d, 0x01], // until rows >= rowsEnd
	[0xfd, 0x0c, ...Array<number>(16).fill(0), 0x21, 0x08], // sum = 0
	[0x20, 0x00, 0x20, 0x02, 0x6a, 0x21, 0x06], // end = rows + step
	[0x20, 0x03, 0x21, 0x07], // at = others
	[0x03, 0x40], // loop: for each sixteen values
	[0x20, 0x08], // sum
	[0x20, 0x00, 0xfd, 0x00, 0x04, 0x00, 0x22, 0x09], // the row's
	[0x20, 0x07, 0xfd, 0x00, 0x04, 0x00, 0x22, 0x0a], // the others'
	[0xfd, 0x9c, 0x01, 0xfd, 0x7e, 0xfd, 0xae, 0x01], // + products of the lower eight (i16, added in pairs as i32)
	[0x20, 0x09, 0x20, 0x0a, 0xfd, 0x9d, 0x01, 0xfd, 0x7e, 0xfd, 0xae, 0x01], // + those of the upper eight
	[0x21, 0x08], // = sum
	[0x20, 0x07, 0x41, 0x10, 0x6a, 0x21, 0x07], // at += 16
	[0x20, 0x00, 0x41, 0x10, 0x6a, 0x22, 0x00], // rows += 16
	[0x20, 0x06, 0x49, 0x0d, 0x00, 0x0b], // while rows < end
	[0x20, 0x03, 0x20, 0x04, 0x6a, 0x21, 0x03], // others += othersStep
	[0x20, 0x05], // *sums =
	[0x20, 0x08, 0xfd, 0x1b, 0x00, 0x20, 0x08, 0xfd, 0x1b, 0x01, 0x6a], // the sum's four parts
	[0x20, 0x08, 0xfd, 0x1b, 0x02, 0x6a, 0x20, 0x08, 0xfd, 0x1b, 0x03, 0x6a],
	[0x36, 0x02, 0x00],
	[0x20, 0x05, 0x41, 0x04, 0x6a, 0x21, 0x05], // sums += 4
	[0x0c, 0x00, 0x0b, 0x0b, 0x0b], // next row; end of loop, block and function
].flat();

const MODULE_BYTES = Uint8Array.from([
	...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic, version
	...encodeSection(0x01, [0x01, 0x60, 0x06, ...Array<number>(6).fill(0x7f), 0x00]), // one type: six i32, nothing back
	...encodeSection(0x03, [0x01, 0x00]), // one function, of that type
	...encodeSection(0x05, [0x01, 0x01, PAGES, PAGES]), // one memory, which does not grow
	...encodeSection(0x07, [0x02, ...encodeName('memory'), 0x02, 0x00, ...encodeName('multiply'), 0x00, 0x00]), // two exports
	...encodeSection(0x0a, [0x01, ...encodeSized(MULTIPLY)]), // the code of one function
]);

function encodeSection(id: number, content: readonly number[]): number[] {
	return [id, ...encodeSized(content)];
}

function encodeName(name: string): number[] {
	return encodeSized([...Buffer.from(name)]);
}

/** With its length before it: seven bits a byte, the lowest first. Nothing here is longer than two of them tell. */
function encodeSized(content: readonly number[]): number[] {
	const { length } = content;
	return length < 0x80 ? [length, ...content] : [(length & 0x7f) | 0x80, length >> 7, ...content];
}

/** Multiplies rows of eight-bit values with others. Sums are exact. */
export class DotProductKernel {
	readonly #kernel: KernelExports;
	readonly #bytes: Int8Array;
	readonly #sums: Int32Array;

	private constructor(kernel: KernelExports) {
		this.#kernel = kernel;
		this.#bytes = new Int8Array(kernel.memory.buffer);
		this.#sums = new Int32Array(kernel.memory.buffer, SUMS_OFFSET, SUMS_BYTES / 4);
	}

	/** Null where the processor lacks the instructions. */
	static create(): DotProductKernel | null {
		if (!WebAssembly.validate(MODULE_BYTES)) return null;
		return new DotProductKernel(
			new WebAssembly.Instance(new WebAssembly.Module(MODULE_BYTES)).exports as KernelExports,
		);
	}

	/** Whether rows of so many bytes can be multiplied. */
	supports(stride: number): boolean {
		return stride > 0 && stride % SIMD_LANES === 0 && stride <= OPERAND_BYTES;
	}

	/**
	 * Multiplies each row with the same values.
	 * @param stride bytes of a row, and the length of `values`; see `fits`
	 * @param into one sum a row
	 */
	multiplyEach(rows: Int8Array, stride: number, values: Int8Array, into: Float64Array): void {
		this.#bytes.set(values, WINDOW_BYTES);
		this.#multiplyWindows(rows, stride, WINDOW_BYTES, 0, into);
	}

	/** Multiplies each row with itself. */
	squares(rows: Int8Array, stride: number, into: Float64Array): void {
		this.#multiplyWindows(rows, stride, 0, stride, into);
	}

	#multiplyWindows(rows: Int8Array, stride: number, operand: number, operandStride: number, into: Float64Array): void {
		const window = Math.floor(WINDOW_BYTES / stride) * stride;
		for (let from = 0, row = 0; from < rows.length; from += window) {
			const part = rows.subarray(from, from + window);
			this.#bytes.set(part);
			this.#kernel.multiply(0, part.length, stride, operand, operandStride, SUMS_OFFSET);
			for (let at = 0; at < part.length / stride; at++) into[row++] = this.#sums[at] as number;
		}
	}
}
