import { AppError, boundedErrorText, type Log, messageOf } from '../base/index.ts';
import type { BytesResponse, Headers } from './types.ts';

/** The headers of every error. An error must not be cached. */
const ERROR_HEADERS: Headers = [
	['content-type', 'application/json; charset=utf-8'],
	['cache-control', 'no-store'],
];

/** Causes in a chain that a log line names. */
const MAX_CAUSES = 5;

/**
 * The response for anything thrown. An AppError becomes the API's error envelope with its code's status. Everything else is
 * a defect and becomes `internal_error` without its message. Failures of the server are logged here, with their causes.
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

/** Whether an error is a failure of the server. A 503 without a cause is a state: the server is starting, stopping or busy. */
function isFailure(error: AppError): boolean {
	return error.status >= 500 && (error.status !== 503 || error.cause !== undefined);
}

/** The chain of an error's causes, the nearest first. */
function causesOf(error: Error): string[] {
	const causes: string[] = [];
	for (let { cause } = error; cause !== undefined && causes.length < MAX_CAUSES; ) {
		const code = (cause as { code?: unknown } | null)?.code;
		const text = typeof code === 'string' && !messageOf(cause).includes(code) ? `${code}: ` : '';
		causes.push(boundedErrorText(`${text}${messageOf(cause)}`));
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
	return { status: error.status, headers, body: JSON.stringify(body), error };
}
