import { DotProductKernel } from './dot-product-kernel.ts';

/** Multiplies rows of eight-bit values. */
export interface DotProducts {
	/** As `DotProductKernel.multiplyEach`. */
	multiplyEach(rows: Int8Array, stride: number, values: Int8Array, into: Float64Array): void;
}

/** One is enough for a thread. Null where the processor does not support it. */
let kernel: DotProductKernel | null | undefined;

/** The kernel, or plain code where it does not support the rows or the processor. */
export function dotProductsFor(stride: number): DotProducts {
	if (kernel === undefined) kernel = DotProductKernel.create();
	return kernel?.supports(stride) ? kernel : plainDotProducts;
}

export const plainDotProducts: DotProducts = {
	multiplyEach(rows, stride, values, into) {
		for (let from = 0, row = 0; from < rows.length; from += stride, row++) {
			let sum = 0;
			for (let i = 0; i < stride; i++) sum += (rows[from + i] as number) * (values[i] as number);
			into[row] = sum;
		}
	},
};
