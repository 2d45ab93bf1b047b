import moduleBytes from './dot-product.wasm.js';

/** The part of WebAssembly that is used here; the types of Node do not declare it. */
declare const WebAssembly: {
	validate(code: Uint8Array): boolean;
	Module: new (code: Uint8Array) => object;
	Instance: new (module: object) => { exports: unknown };
};

/**
 * The exports of dot-product.wat. Addresses and strides are in bytes; `stride` is a multiple of 16. One 32-bit sum for
 * each row is written to `sums`.
 */
interface KernelExports {
	memory: { buffer: ArrayBuffer };
	multiply(rows: number, rowsEnd: number, stride: number, operand: number, operandStride: number, sums: number): void;
}

/** Values that one instruction multiplies. */
export const SIMD_LANES = 16;

// The layout of the six pages of memory that dot-product.wat declares: a window of rows, the operand, the sums.
/** A window of rows stays in the processor's cache. */
const WINDOW_BYTES = 256 * 1024;
/** The longest row. */
const OPERAND_BYTES = 64 * 1024;
const SUMS_OFFSET = WINDOW_BYTES + OPERAND_BYTES;
/** Enough for a window of the shortest rows. */
const SUMS_BYTES = (WINDOW_BYTES / SIMD_LANES) * 4;

/** Dot products of rows of eight-bit values, computed by dot-product.wat. Sums are exact. */
export class DotProductKernel {
	readonly #kernel: KernelExports;
	readonly #bytes: Int8Array;
	readonly #sums: Int32Array;

	private constructor(kernel: KernelExports) {
		this.#kernel = kernel;
		this.#bytes = new Int8Array(kernel.memory.buffer);
		this.#sums = new Int32Array(kernel.memory.buffer, SUMS_OFFSET, SUMS_BYTES / 4);
	}

	/** Null on a processor without SIMD instructions. */
	static create(): DotProductKernel | null {
		if (!WebAssembly.validate(moduleBytes)) return null;
		return new DotProductKernel(new WebAssembly.Instance(new WebAssembly.Module(moduleBytes)).exports as KernelExports);
	}

	/** Whether rows of `stride` bytes can be multiplied. */
	supports(stride: number): boolean {
		return stride > 0 && stride % SIMD_LANES === 0 && stride <= OPERAND_BYTES;
	}

	/**
	 * Multiplies each row with the same values.
	 * @param stride bytes of a row, and the length of `values`; see `supports`
	 * @param into receives one sum for each row
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
