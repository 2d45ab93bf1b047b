import type { Access, BucketState, Caller, Credentials } from '../access/index.ts';
import { AppError, type Log } from '../base/index.ts';
import { errorResponse, type Headers, type HttpRequest, type RouteResponse, type Unhandled } from '../http/index.ts';
import type { SameOriginCheck } from './same-origin-check.ts';

export interface AdmissionOptions {
	access: Access;
	sameOriginCheck: SameOriginCheck;
	log: Log;
}

/**
 * Admits a request with a valid credential: checks the credential, the rate limit and, for a session, the origin; then responds. Every
 * response to an admitted request shows the rest of the rate limit and renews the session's cookie.
 */
export async function admitCaller<C extends Caller>(
	request: HttpRequest,
	identify: (credentials: Credentials) => Promise<C>,
	respond: (caller: C) => Promise<RouteResponse>,
	{ access, sameOriginCheck, log }: AdmissionOptions,
): Promise<RouteResponse> {
	let headers: Headers = [];
	try {
		const caller = await identify(credentialsOf(request));
		request.addLogFields({ workspace: caller.workspaceId, credential: caller.credentialId });
		// Only programs with a key choose the trace and its sampling: others could fill the collector, or write into any trace.
		if (!caller.userSession) request.continueTrace();
		const bucket = await access.count(caller);
		headers = [...rateHeaders(bucket), ...cookieHeaders(caller)];
		if (bucket && !bucket.allowed) throw rateLimitError(bucket);
		if (caller.userSession) sameOriginCheck.requireSameOrigin(request);
		return withHeaders(await respond(caller), headers);
	} catch (error) {
		if (error instanceof AppError && (error.status === 401 || error.code === 'address_not_allowed')) {
			return rejectUnauthenticated(error, request, { access, log });
		}
		return withHeaders(errorResponse(error, request.id, log), headers);
	}
}

/** Rejects a request without a valid credential. It counts for the client's address, and too many of them are a 429. */
function rejectUnauthenticated(
	error: AppError,
	request: HttpRequest,
	{ access, log }: Pick<AdmissionOptions, 'access' | 'log'>,
): RouteResponse {
	const bucket = access.countAnonymous(request.clientAddress);
	const response = bucket && !bucket.allowed ? rateLimitError(bucket) : error;
	return withHeaders(errorResponse(response, request.id, log), rateHeaders(bucket));
}

/**
 * Admits a request without a credential within the limit of the client's address, then responds. Every response shows the rest of
 * that limit.
 */
export async function admitAnonymous(
	request: HttpRequest,
	respond: () => Promise<RouteResponse>,
	{ access, log }: Pick<AdmissionOptions, 'access' | 'log'>,
): Promise<RouteResponse> {
	const bucket = access.countAnonymous(request.clientAddress);
	const headers = rateHeaders(bucket);
	try {
		if (bucket && !bucket.allowed) throw rateLimitError(bucket);
		return withHeaders(await respond(), headers);
	} catch (error) {
		return withHeaders(errorResponse(error, request.id, log), headers);
	}
}

/**
 * The response to an API request that reaches no operation, such as a path that cannot be decoded. It counts for the client's
 * address, and too many of them are a 429. Visitors' routes have separate limits.
 */
export function unhandledApi(access: Access, request: HttpRequest): Unhandled {
	const { path } = request;
	if (!path.startsWith('/api/v1/') || path.startsWith('/api/v1/widget/')) return { headers: [] };
	const bucket = access.countAnonymous(request.clientAddress);
	return { headers: rateHeaders(bucket), refusal: bucket && !bucket.allowed ? rateLimitError(bucket) : null };
}

/** What a request has that may hold a credential, and where it comes from. */
function credentialsOf(request: HttpRequest): Credentials {
	return {
		authorization: request.header('authorization'),
		cookies: request.header('cookie'),
		address: request.clientAddress,
	};
}

function rateHeaders(bucket: BucketState | null): Headers {
	if (!bucket) return [];
	return [
		['x-ratelimit-limit', String(bucket.limit)],
		['x-ratelimit-remaining', String(bucket.remaining)],
		['x-ratelimit-reset', String(bucket.resetSeconds)],
	];
}

function cookieHeaders({ userSession }: Caller): Headers {
	return userSession?.setCookie ? [['set-cookie', userSession.setCookie]] : [];
}

function rateLimitError({ retryAfter }: BucketState): AppError {
	return new AppError('rate_limit_exceeded', `Too many requests. Try again in ${retryAfter} seconds.`, {
		retry_after: retryAfter,
	});
}

/** Headers of the response replace added ones of the same name: a sign-out must not renew the cookie. */
function withHeaders(response: RouteResponse, headers: Headers): RouteResponse {
	const responseHeaders = response.headers ?? [];
	const added = headers.filter(([name]) => !responseHeaders.some(([known]) => known === name));
	return added.length === 0 ? response : { ...response, headers: [...responseHeaders, ...added] };
}
