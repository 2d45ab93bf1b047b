import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Pairs of the suffix of a file's name and its contents: plain, by gzip and by Brotli. */
export function compressedVariants(contents) {
	const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
	return [
		['', contents],
		['.gz', gzipSync(contents, { level: constants.Z_BEST_COMPRESSION })],
		['.br', brotliCompressSync(contents, quality)],
	];
}
