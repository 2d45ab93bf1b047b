import type { Basis } from './basis.ts';

/** The first bytes of a stored basis: a magic number with the version of the layout. */
const MAGIC = 0x32_4c_52_50;
/** The layout of earlier versions, which has no reaches. */
const MAGIC_WITHOUT_REACHES = 0x31_4c_52_50;
const HEADER_BYTES = 28;

/**
 * A basis as bytes, little-endian: magic, dimensions, terms, bytes of the term list, unknown weight, mean length, mean reach; then
 * the weights, scales and reaches (float32), the directions (int8), and the terms separated by spaces (UTF-8).
 */
export function serialiseBasis(basis: Basis): Uint8Array {
	const terms = new TextEncoder().encode([...basis.vocabulary.keys()].join(' '));
	const count = basis.vocabulary.size;
	const bytes = new Uint8Array(HEADER_BYTES + 12 * count + basis.directions.length + terms.length);
	const header = new DataView(bytes.buffer);
	[MAGIC, basis.dimensions, count, terms.length].forEach((value, i) => {
		header.setUint32(4 * i, value, true);
	});
	header.setFloat32(16, basis.unknown_weight, true);
	header.setFloat32(20, basis.mean_length, true);
	header.setFloat32(24, basis.mean_reach, true);
	[basis.weights, basis.scales, basis.reaches].forEach((values, i) => {
		new Float32Array(bytes.buffer, HEADER_BYTES + 4 * i * count, count).set(values);
	});
	new Int8Array(bytes.buffer, HEADER_BYTES + 12 * count, basis.directions.length).set(basis.directions);
	bytes.set(terms, bytes.length - terms.length);
	return bytes;
}

/**
 * Reads a basis in the present layout or in the one before, whose directions were not tuned: the reach of a row is its length.
 * @throws Error if the bytes are not a basis, or have an unknown layout
 */
export function deserialiseBasis(stored: Uint8Array): Basis {
	// A copy (which a Buffer's slice is not) is aligned, as views of four-byte numbers require.
	const bytes = new Uint8Array(stored);
	const header = new DataView(bytes.buffer);
	const magic = bytes.length < HEADER_BYTES ? 0 : header.getUint32(0, true);
	if (magic !== MAGIC && magic !== MAGIC_WITHOUT_REACHES) throw new Error('These bytes are no basis.');
	const hasReaches = magic === MAGIC;
	const dimensions = header.getUint32(4, true);
	const count = header.getUint32(8, true);
	const termBytes = header.getUint32(12, true);
	const numbersEnd = HEADER_BYTES + (hasReaches ? 12 : 8) * count;
	const values = count * (dimensions - 1);
	if (bytes.length !== numbersEnd + values + termBytes) throw new Error('This basis is cut short.');
	const numbers = (i: number) => new Float32Array(bytes.buffer, HEADER_BYTES + 4 * i * count, count);
	const scales = numbers(1);
	const directions = new Int8Array(bytes.buffer, numbersEnd, values);
	const terms = new TextDecoder().decode(bytes.subarray(bytes.length - termBytes));
	const names = count === 0 ? [] : terms.split(' ');
	return {
		dimensions,
		vocabulary: new Map(names.map((term, row) => [term, row])),
		unknown_weight: header.getFloat32(16, true),
		mean_length: header.getFloat32(20, true),
		mean_reach: header.getFloat32(24, true),
		weights: numbers(0),
		scales,
		reaches: hasReaches ? numbers(2) : lengthsOf(directions, scales, dimensions - 1),
		directions,
	};
}

/** The length of each row of directions. */
function lengthsOf(directions: Int8Array, scales: Float32Array, width: number): Float32Array {
	return scales.map((scale, row) => {
		let square = 0;
		for (let i = row * width; i < (row + 1) * width; i++) square += (directions[i] as number) ** 2;
		return scale * Math.sqrt(square);
	});
}
