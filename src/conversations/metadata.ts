import { AppError } from '../base/index.ts';

const MAX_METADATA_BYTES = 16 * 1024;
const MAX_METADATA_DEPTH = 32;

/** @throws AppError `invalid_request` for metadata that is too deep or too large */
export function requireMetadata(metadata: Record<string, unknown>): void {
	let level: unknown[] = [metadata];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > MAX_METADATA_DEPTH) throw badMetadata(`must not be nested deeper than ${MAX_METADATA_DEPTH} levels`);
		const holders = level.filter((value): value is object => typeof value === 'object' && value !== null);
		level = holders.flatMap((holder) => Object.values(holder));
	}
	if (Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA_BYTES) {
		throw badMetadata(`must not be larger than ${MAX_METADATA_BYTES} bytes`);
	}
}

function badMetadata(message: string): AppError {
	return new AppError('invalid_request', `/metadata ${message}.`, { details: [{ path: '/metadata', message }] });
}
