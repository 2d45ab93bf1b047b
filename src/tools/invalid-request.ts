import { AppError } from '../base/index.ts';

/** The error for a request with one invalid field. */
export function invalidRequestAt(segments: readonly string[], message: string): AppError {
	// RFC 6901: `~` and `/` within a name are escaped.
	const path = segments.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
	return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}
