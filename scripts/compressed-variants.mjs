import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Pairs of the suffix of a file's name and its contents: plain, by gzip and by Brotli. */
export function compressedVariants(contents) {
	const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
	return [
		['', contents],
		['.gz', smallestGzip(contents)],
		['.br', brotliCompressSync(contents, quality)],
	];
}

/** The memory level bounds the length of a block. Shorter blocks often fit the text better than those of the default level, 8. */
function smallestGzip(contents) {
	const levels = [6, 7, 8];
	const variants = levels.map((memLevel) => gzipSync(contents, { level: constants.Z_BEST_COMPRESSION, memLevel }));
	return variants.reduce((smallest, variant) => (variant.length < smallest.length ? variant : smallest));
}
