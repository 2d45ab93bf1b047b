import moduleBytes from './float-rows.wasm.js';

/** The part of WebAssembly that is used here; the types of Node do not declare it. */
declare const WebAssembly: {
	validate(code: Uint8Array): boolean;
	Memory: new (size: { initial: number }) => RowMemory;
	Module: new (code: Uint8Array) => object;
	Instance: new (module: object, imports: object) => { exports: unknown };
};

interface RowMemory {
	/** A new one after `grow`. */
	buffer: ArrayBuffer;
	/** Adds pages of 64 KiB. @throws RangeError beyond 4 GiB */
	grow(pages: number): void;
}

/** The functions of float-rows.wat. Addresses are in bytes. */
interface RowFunctions {
	dot(a: number, b: number, end: number): number;
	addScaled(to: number, factor: number, from: number, end: number): void;
}

const PAGE_BYTES = 64 * 1024;
const LANES = 4;
const VALUE_BYTES = 4;

/**
 * A growing list of rows of 32-bit floats. Sums over rows use the processor's instructions for four values at once where it has
 * them; the results are the same without.
 */
export class FloatRows {
	readonly #width: number;
	readonly #rowBytes: number;
	readonly #memory: RowMemory;
	readonly #functions: RowFunctions;
	#count = 0;

	/** @param simd false: without the instructions for four values */
	constructor(width: number, simd = WebAssembly.validate(moduleBytes)) {
		this.#width = width;
		this.#rowBytes = Math.ceil(width / LANES) * LANES * VALUE_BYTES;
		this.#memory = new WebAssembly.Memory({ initial: 1 });
		this.#functions = simd ? compiledFunctions(this.#memory) : scriptFunctions(this.#memory);
	}

	/** Adds rows of zeros. @returns the number of the first */
	append(rows: number): number {
		const first = this.#count;
		this.#count += rows;
		const missing = this.#count * this.#rowBytes - this.#memory.buffer.byteLength;
		if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE_BYTES));
		return first;
	}

	/** The values of a row. They are stale after the next `append`. */
	row(row: number): Float32Array {
		return new Float32Array(this.#memory.buffer, row * this.#rowBytes, this.#width);
	}

	/** Sets rows to zero. */
	clear(first: number, rows: number): void {
		new Uint8Array(this.#memory.buffer, first * this.#rowBytes, rows * this.#rowBytes).fill(0);
	}

	dot(a: number, b: number): number {
		const at = a * this.#rowBytes;
		return this.#functions.dot(at, b * this.#rowBytes, at + this.#rowBytes);
	}

	/** Adds `factor` times a row to another row. */
	addScaled(to: number, factor: number, from: number): void {
		const at = to * this.#rowBytes;
		this.#functions.addScaled(at, factor, from * this.#rowBytes, at + this.#rowBytes);
	}
}

function compiledFunctions(memory: RowMemory): RowFunctions {
	const module = new WebAssembly.Module(moduleBytes);
	return new WebAssembly.Instance(module, { rows: { memory } }).exports as RowFunctions;
}

/** The functions of float-rows.wat, with the same order of additions and the same rounding, so that every machine trains the same basis. */
function scriptFunctions(memory: RowMemory): RowFunctions {
	let values = new Float32Array(memory.buffer);
	const current = () => {
		if (values.buffer !== memory.buffer) values = new Float32Array(memory.buffer);
		return values;
	};
	const { fround } = Math;
	return {
		dot(a, b, end) {
			const all = current();
			const sums = new Float32Array(LANES);
			for (let i = a / VALUE_BYTES, j = b / VALUE_BYTES; i < end / VALUE_BYTES; i++, j++) {
				(sums[i % LANES] as number) += fround((all[i] as number) * (all[j] as number));
			}
			const [first, second, third, fourth] = sums as unknown as [number, number, number, number];
			return fround(fround(first + second) + fround(third + fourth));
		},
		addScaled(to, factor, from, end) {
			const all = current();
			const rounded = fround(factor);
			for (let i = to / VALUE_BYTES, j = from / VALUE_BYTES; i < end / VALUE_BYTES; i++, j++) {
				(all[i] as number) += fround(rounded * (all[j] as number));
			}
		},
	};
}
