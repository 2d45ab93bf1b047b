import { AppError, type Log, messageOf } from '../base/index.ts';
import type { BytesResponse, Headers } from './types.ts';

/** The headers that every error has; an error is true now, and nobody may keep it. */
const ERROR_HEADERS: Headers = [
	['content-type', 'application/json; charset=utf-8'],
	['cache-control', 'no-store'],
];

/** Causes of causes that a line names, and the characters of each. */
const MAX_CAUSES = 5;
const MAX_CAUSE_CHARS = 500;

/**
 * The answer to anything thrown: an AppError as the API's error envelope, with its code's status; everything else is a
 * defect, answered as `internal_error` without its message. What the server is to blame for is logged here, with its cause.
 */
export function errorResponse(error: unknown, requestId: string, log: Log): BytesResponse {
	if (!(error instanceof AppError)) {
		log.error({ err: error, request_id: requestId }, 'a request failed');
		return errorEnvelopeResponse(new AppError('internal_error'), requestId);
	}
	if (isFailure(error)) {
		log.warn(
			{ request_id: requestId, code: error.code, error: error.message, causes: causesOf(error) },
			'a request failed',
		);
	}
	return errorEnvelopeResponse(error, requestId);
}

/** Whether an answer tells of a failure of the server. A 503 without a cause tells of its state: it starts, stops, or is busy. */
function isFailure(error: AppError): boolean {
	return error.status >= 500 && (error.status !== 503 || error.cause !== undefined);
}

/** What led to an error, the nearest cause first. */
function causesOf(error: Error): string[] {
	const causes: string[] = [];
	for (let { cause } = error; cause !== undefined && causes.length < MAX_CAUSES; ) {
		const code = (cause as { code?: unknown } | null)?.code;
		const text = typeof code === 'string' && !messageOf(cause).includes(code) ? `${code}: ` : '';
		causes.push(`${text}${messageOf(cause)}`.slice(0, MAX_CAUSE_CHARS));
		cause = cause instanceof Error ? cause.cause : undefined;
	}
	return causes;
}

function errorEnvelopeResponse(error: AppError, requestId: string): BytesResponse {
	const headers = [...ERROR_HEADERS];
	if (error.retry_after !== undefined) headers.push(['retry-after', String(error.retry_after)]);
	if (error.status === 401) headers.push(['www-authenticate', 'Bearer']);
	const body = {
		error: {
			code: error.code,
			message: error.message,
			retry_after: error.retry_after,
			details: error.details,
			request_id: requestId,
		},
	};
	return { status: error.status, headers, body: JSON.stringify(body), error: error.code };
}
