import { connectionFailure } from './send-request.ts';

/**
 * The error of a failed exchange with a service. `unreachable`: no connection. `broken`: the connection closed too early. `late`: the
 * deadline of the exchange has passed. `too_large`: the response is above a limit. `refused`: the request or the response breaks a rule
 * of the service client.
 */
export class ServiceError extends Error {
	override readonly name = 'ServiceError';
	readonly kind: 'unreachable' | 'broken' | 'late' | 'too_large' | 'refused';

	constructor(kind: ServiceError['kind'], message: string, cause?: unknown) {
		super(message, { cause });
		this.kind = kind;
	}
}

/** The error of an exchange whose time is over. @param ms its time limit */
export function serviceTimeout(ms: number): ServiceError {
	return new ServiceError('late', `The service did not finish its response within ${ms / 1_000} seconds.`);
}

/** The error of a response that is a redirect. */
export function redirectRefused(url: URL): ServiceError {
	const message = `The service at ${url.host} redirects to another URL, and redirects are not followed.`;
	return new ServiceError('refused', message);
}

/** The error of a request to another origin than that of the service. */
export function otherOriginRefused(origin: string): ServiceError {
	return new ServiceError('refused', `This client sends requests to ${origin} only.`);
}

/** What the caller of a service gets for a failure of the HTTP library. */
export function serviceFailure(thrown: unknown, url: URL): ServiceError | TypeError {
	if (thrown instanceof ServiceError || thrown instanceof TypeError) return thrown;
	const noConnection = connectionFailure(thrown, url);
	if (noConnection !== undefined) return new ServiceError('unreachable', noConnection, thrown);
	return new ServiceError('broken', `The connection to ${url.host} broke off.`, thrown);
}
