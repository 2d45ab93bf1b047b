import { isRecord, jsonOf } from './json.ts';
import { type ProviderError, providerError } from './provider-failure.ts';

/** The parts of a reported error besides its message. */
export interface ServiceErrorExtras {
	/** The HTTP status, if the service responded with an error status. */
	statusCode?: number | undefined;
	responseHeaders?: Record<string, string>;
	/** The name of the error at the service: a word, or an HTTP status. */
	code?: unknown;
	type?: unknown;
	cause?: unknown;
}

/** An error that a service reports, by the status of its response or in the stream. */
export class ReportedError extends Error {
	override readonly name = 'ReportedError';
	readonly statusCode: number | undefined;
	readonly responseHeaders: Record<string, string> | undefined;
	readonly code: unknown;
	readonly type: unknown;

	constructor(message: string, { statusCode, responseHeaders, code, type, cause }: ServiceErrorExtras = {}) {
		super(message, { cause });
		this.statusCode = statusCode;
		this.responseHeaders = responseHeaders;
		this.code = code;
		this.type = type;
	}
}

/**
 * The error in a JSON value of a service: the member `error` of both protocols, an object or (Ollama) a text. Null without
 * an error. Some services send the member as null beside an answer.
 */
export function errorIn(value: unknown): ReportedError | null {
	if (!isRecord(value) || value.error === undefined || value.error === null) return null;
	return errorOf(value.error);
}

/** Reads an error object of a service: `{message, type, code}`, each member optional. */
export function errorOf(error: unknown): ReportedError {
	if (!isRecord(error)) return new ReportedError(typeof error === 'string' ? error : JSON.stringify(error));
	const { message, code, type } = error;
	return new ReportedError(typeof message === 'string' ? message : JSON.stringify(error), { code, type });
}

/** The error of a response with an error status. @param body the beginning of its body */
export function statusError(status: number, headers: Record<string, string>, body: string): ReportedError {
	return new ReportedError(errorIn(jsonOf(body))?.message ?? body, { statusCode: status, responseHeaders: headers });
}

/** The error of an event with the name `error`, which may have any data. */
export function namedError(data: string): ReportedError {
	const value = jsonOf(data);
	return errorIn(value) ?? (isRecord(value) ? errorOf(value) : new ReportedError(data));
}

/** Makes the failure of a service that does not follow its protocol. */
export function protocolError(detail: string): ProviderError {
	return providerError('The model provider sent what is not part of its protocol.', { detail });
}
