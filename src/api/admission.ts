import type { Access, BucketState, Caller, Credentials } from '../access/index.ts';
import { AppError, type Log } from '../base/index.ts';
import { errorReply, type Headers, type HttpRequest, type Reply, type Unhandled } from '../http/index.ts';
import type { OwnOrigin } from './own-origin.ts';

export interface AdmissionOptions {
	access: Access;
	ownOrigin: OwnOrigin;
	log: Log;
}

/**
 * Lets a request in by its credentials: who is it, how often, and for a session, from our own pages; then the rest. Every
 * answer to who was let in says how much of the rate limit is left, and keeps the session's cookie in step.
 */
export async function admitted<C extends Caller>(
	request: HttpRequest,
	identify: (credentials: Credentials) => Promise<C>,
	answer: (caller: C) => Promise<Reply>,
	{ access, ownOrigin, log }: AdmissionOptions,
): Promise<Reply> {
	let headers: Headers = [];
	try {
		const caller = await identify(credentialsOf(request));
		request.note({ workspace: caller.workspaceId, credential: caller.credentialId });
		const bucket = await access.count(caller);
		headers = [...rateHeaders(bucket), ...cookieHeaders(caller)];
		if (bucket && !bucket.allowed) throw tooMany(bucket);
		if (caller.signedIn) ownOrigin.require(request);
		return withHeaders(await answer(caller), headers);
	} catch (error) {
		if (error instanceof AppError && error.status === 401) return refusedUnknown(error, request, { access, log });
		return withHeaders(errorReply(error, request.id, log), headers);
	}
}

/** Answers a request without a good credential: it counts for the client's address, and too many of them are a 429. */
function refusedUnknown(
	error: AppError,
	request: HttpRequest,
	{ access, log }: Pick<AdmissionOptions, 'access' | 'log'>,
): Reply {
	const bucket = access.countUnknown(request.clientAddress);
	const told = bucket && !bucket.allowed ? tooMany(bucket) : error;
	return withHeaders(errorReply(told, request.id, log), rateHeaders(bucket));
}

/**
 * Lets anyone in, as often as the client's address may come; then the rest. Every answer says how much of that is left.
 */
export async function admittedAsAnyone(
	request: HttpRequest,
	answer: () => Promise<Reply>,
	{ access, log }: Pick<AdmissionOptions, 'access' | 'log'>,
): Promise<Reply> {
	const bucket = access.countUnknown(request.clientAddress);
	const headers = rateHeaders(bucket);
	try {
		if (bucket && !bucket.allowed) throw tooMany(bucket);
		return withHeaders(await answer(), headers);
	} catch (error) {
		return withHeaders(errorReply(error, request.id, log), headers);
	}
}

/**
 * The answer to an API request that reaches no operation, such as a path that cannot be decoded: it counts for the client's
 * address, and too many of them are a 429. Visitors' routes have limits of their own.
 */
export function unhandledApi(access: Access, request: HttpRequest): Unhandled {
	const { path } = request;
	if (!path.startsWith('/api/v1/') || path.startsWith('/api/v1/widget/')) return { headers: [] };
	const bucket = access.countUnknown(request.clientAddress);
	return { headers: rateHeaders(bucket), refusal: bucket && !bucket.allowed ? tooMany(bucket) : null };
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

function cookieHeaders({ signedIn }: Caller): Headers {
	return signedIn?.setCookie ? [['set-cookie', signedIn.setCookie]] : [];
}

function tooMany({ retryAfter }: BucketState): AppError {
	return new AppError('rate_limit_exceeded', `Too many requests. Try again in ${retryAfter} seconds.`, {
		retry_after: retryAfter,
	});
}

/** The answer's own word on a header comes first and stands alone: one that signs out must not be told to stay. */
function withHeaders(reply: Reply, headers: Headers): Reply {
	const own = reply.headers ?? [];
	const further = headers.filter(([name]) => !own.some(([known]) => known === name));
	return further.length === 0 ? reply : { ...reply, headers: [...own, ...further] };
}
