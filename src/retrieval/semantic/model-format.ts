import type { Basis } from './basis.ts';

/** The first bytes of a stored basis: a magic number with the version of the layout. */
const MAGIC = 0x31_4c_52_50;
const HEADER_BYTES = 28;

/**
 * A basis as bytes, little-endian: magic, dimensions, terms, bytes of the term list, unknown weight, mean length, mean reach; then
 * the weights and scales (float32), the directions (int8), and the terms separated by spaces (UTF-8).
 */
export function serialiseBasis(basis: Basis): Uint8Array {
	const terms = new TextEncoder().encode([...basis.vocabulary.keys()].join(' '));
	const count = basis.vocabulary.size;
	const bytes = new Uint8Array(HEADER_BYTES + 8 * count + basis.directions.length + terms.length);
	const header = new DataView(bytes.buffer);
	[MAGIC, basis.dimensions, count, terms.length].forEach((value, i) => {
		header.setUint32(4 * i, value, true);
	});
	header.setFloat32(16, basis.unknown_weight, true);
	header.setFloat32(20, basis.mean_length, true);
	header.setFloat32(24, basis.mean_reach, true);
	new Float32Array(bytes.buffer, HEADER_BYTES, count).set(basis.weights);
	new Float32Array(bytes.buffer, HEADER_BYTES + 4 * count, count).set(basis.scales);
	new Int8Array(bytes.buffer, HEADER_BYTES + 8 * count, basis.directions.length).set(basis.directions);
	bytes.set(terms, bytes.length - terms.length);
	return bytes;
}

/** @throws Error if the bytes are not a basis, or have an unknown layout */
export function deserialiseBasis(stored: Uint8Array): Basis {
	// A copy (which a Buffer's slice is not) is aligned, as views of four-byte numbers require.
	const bytes = new Uint8Array(stored);
	const header = new DataView(bytes.buffer);
	if (bytes.length < HEADER_BYTES || header.getUint32(0, true) !== MAGIC) throw new Error('These bytes are no basis.');
	const dimensions = header.getUint32(4, true);
	const count = header.getUint32(8, true);
	const termBytes = header.getUint32(12, true);
	const values = count * (dimensions - 1);
	if (bytes.length !== HEADER_BYTES + 8 * count + values + termBytes) throw new Error('This basis is cut short.');
	const terms = new TextDecoder().decode(bytes.subarray(bytes.length - termBytes));
	const names = count === 0 ? [] : terms.split(' ');
	return {
		dimensions,
		vocabulary: new Map(names.map((term, row) => [term, row])),
		unknown_weight: header.getFloat32(16, true),
		mean_length: header.getFloat32(20, true),
		mean_reach: header.getFloat32(24, true),
		weights: new Float32Array(bytes.buffer, HEADER_BYTES, count),
		scales: new Float32Array(bytes.buffer, HEADER_BYTES + 4 * count, count),
		directions: new Int8Array(bytes.buffer, HEADER_BYTES + 8 * count, values),
	};
}
