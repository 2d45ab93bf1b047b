/** The memory grows by a quarter: large arrays have little that is not used. */
const GROWTH = 1.25;

/** A copy with at least this length. */
export function grown<T extends Uint32Array | Uint16Array | Uint8Array | Int8Array | Float64Array>(
	array: T,
	length: number,
): T {
	const larger = new (array.constructor as new (length: number) => T)(
		Math.max(length, Math.ceil(array.length * GROWTH)),
	);
	larger.set(array);
	return larger;
}
