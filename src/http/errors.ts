import { AppError, type Log } from '../base/index.ts';
import type { BytesReply, Headers } from './types.ts';

/** The headers that every error has; an error is true now, and nobody may keep it. */
const PLAIN: Headers = [
	['content-type', 'application/json; charset=utf-8'],
	['cache-control', 'no-store'],
];

/**
 * The answer to anything thrown: an AppError as the API's error envelope, with its code's status; everything else is a
 * defect, logged here and answered as `internal_error` without its message.
 */
export function errorReply(error: unknown, requestId: string, log: Log): BytesReply {
	if (!(error instanceof AppError)) {
		log.error({ err: error, request_id: requestId }, 'a request failed');
		return errorReply(new AppError('internal_error'), requestId, log);
	}
	const headers = [...PLAIN];
	if (error.retry_after !== undefined) headers.push(['retry-after', String(error.retry_after)]);
	if (error.status === 401) headers.push(['www-authenticate', 'Bearer']);
	const envelope = {
		error: {
			code: error.code,
			message: error.message,
			retry_after: error.retry_after,
			details: error.details,
			request_id: requestId,
		},
	};
	return { status: error.status, headers, body: JSON.stringify(envelope) };
}
