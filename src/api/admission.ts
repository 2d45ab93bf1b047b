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
 * Lets a request in by its credentials: who is it, how often, and for a session, from our own pages; then the rest. Every
 * answer to who was let in says how much of the rate limit is left, and keeps the session's cookie in step.
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
		const bucket = await access.count(caller);
		headers = [...rateHeaders(bucket), ...cookieHeaders(caller)];
		if (bucket && !bucket.allowed) throw rateLimitError(bucket);
		if (caller.userSession) sameOriginCheck.requireSameOrigin(request);
		return withHeaders(await respond(caller), headers);
	} catch (error) {
		if (error instanceof AppError && error.status === 401)
			return rejectUnauthenticated(error, request, { access, log });
		return withHeaders(errorResponse(error, request.id, log), headers);
	}
}

/** Answers a request without a good credential: it counts for the client's address, and too many of them are a 429. */
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
 * Lets anyone in, as often as the client's address may come; then the rest. Every answer says how much of that is left.
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
 * The answer to an API request that reaches no operation, such as a path that cannot be decoded: it counts for the client's
 * address, and too many of them are a 429. Visitors' routes have limits of their own.
 */
export function unhandledApi(access: Access, request: HttpRequest): Unhandled {
	const { path } = request;
	if (!path.startsWith('/api/v1/') || path.startsWith('/api/v1/widget/')) return { headers: [] };
	const bucket = access.countAnonymous(request.clientAddress);
	return { headers: rateHeaders(bucket), refusal: bucket && !bucket.allowed ? rateLimitError(bucket) : null };
}

/** What a request brings along to say who sends it. */
function credentialsOf(request: HttpRequest): Credentials {
	return { authorization: request.header('authorization'), cookies: request.header('cookie') };
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

/** The answer's own word on a header comes first and stands alone: one that signs out must not be told to stay. */
function withHeaders(response: RouteResponse, headers: Headers): RouteResponse {
	const responseHeaders = response.headers ?? [];
	const added = headers.filter(([name]) => !responseHeaders.some(([known]) => known === name));
	return added.length === 0 ? response : { ...response, headers: [...responseHeaders, ...added] };
}
