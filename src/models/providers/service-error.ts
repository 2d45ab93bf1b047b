import { isRecord, jsonOf } from './json.ts';
import { type ProviderError, providerError } from './provider-failure.ts';

/** What an error of a service may say besides its message. */
export interface ServiceErrorExtras {
	/** The HTTP status, where the service answered with that of an error. */
	statusCode?: number | undefined;
	responseHeaders?: Record<string, string>;
	/** What the service calls the error: a word, or an HTTP status. */
	code?: unknown;
	type?: unknown;
	cause?: unknown;
}

/** An error that a service reports, by the status of its answer or in the stream. */
export class ServiceError extends Error {
	override readonly name = 'ServiceError';
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
 * The error in a JSON value of a service: the member `error` of both protocols, an object or (Ollama) a text. Null where
 * there is none; services also send the member as null beside an answer.
 */
export function errorIn(value: unknown): ServiceError | null {
	if (!isRecord(value) || value.error === undefined || value.error === null) return null;
	return errorOf(value.error);
}

/** An error object of a service: `{message, type, code}`, as far as it is there. */
export function errorOf(error: unknown): ServiceError {
	if (!isRecord(error)) return new ServiceError(typeof error === 'string' ? error : JSON.stringify(error));
	const { message, code, type } = error;
	return new ServiceError(typeof message === 'string' ? message : JSON.stringify(error), { code, type });
}

/** The error of an answer with an error status. */
export async function statusError(response: Response): Promise<ServiceError> {
	// The status says enough where the rest of the answer does not arrive.
	const body = await response.text().catch(() => '');
	return new ServiceError(errorIn(jsonOf(body))?.message ?? body, {
		statusCode: response.status,
		responseHeaders: Object.fromEntries(response.headers),
	});
}

/** The error of an event that says in its name that it is one, whatever its data are. */
export function namedError(data: string): ServiceError {
	const value = jsonOf(data);
	return errorIn(value) ?? (isRecord(value) ? errorOf(value) : new ServiceError(data));
}

/** The failure of a service that does not follow its protocol. */
export function protocolError(detail: string): ProviderError {
	return providerError('The model provider sent what is not part of its protocol.', { detail });
}
