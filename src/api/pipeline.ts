import type { Access, BucketState, Caller } from '../access/index.ts';
import { AppError, type Log } from '../base/index.ts';
import { bodyValidator, type Operation, queryValidator, type Validator } from '../contract/index.ts';
import { errorReply, type Headers, type HttpRequest, type Reply, type Route } from '../http/index.ts';
import { type Call, type Handler, RawReply } from './call.ts';

/** Milliseconds until an answer must have begun. Replies of a model may take longer: they have a limit of their own. */
const DEADLINE_MS = 60_000;
const REPLY_DEADLINE_MS = 15 * 60_000;
/** A large file on a slow line: the body's way counts too. */
const UPLOAD_DEADLINE_MS = 10 * 60_000;

const MULTIPART = /^multipart\/form-data[ \t]*(?:$|;)/i;
const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;

export interface PipelineOptions {
	access: Access;
	log: Log;
}

/**
 * The way of a request with a credential: who is it, may they, how often, is it well formed; then the handler. Every
 * answer says how much of the rate limit is left.
 */
export function keyRoute<O extends Operation>(
	operation: O,
	handler: Handler<O>,
	{ access, log }: PipelineOptions,
): Route {
	const read = inputReader(operation);
	const { access: rule, status = 200 } = operation;
	if (rule.kind !== 'key') throw new Error(`${operation.path} is not an operation for API keys`);
	return {
		method: operation.method,
		path: operation.path,
		deadlineMs: deadlineOf(operation),
		async handle(request): Promise<Reply> {
			let limits: Headers = [];
			try {
				const caller = await access.authenticate(request.header('authorization'));
				const bucket = await access.count(caller);
				limits = rateHeaders(bucket);
				if (bucket && !bucket.allowed) throw tooMany(bucket);
				access.requireScope(caller, rule.scope);
				const result = await handler(await callOf(operation, read, request, caller));
				if (result instanceof RawReply) return withHeaders(result.reply, limits);
				return { status, headers: [JSON_HEADER, ...limits], body: JSON.stringify(result) };
			} catch (error) {
				return withHeaders(errorReply(error, request.id, log), limits);
			}
		},
	};
}

function deadlineOf({ streams, multipart }: Operation): number {
	if (streams) return REPLY_DEADLINE_MS;
	return multipart ? UPLOAD_DEADLINE_MS : DEADLINE_MS;
}

/** Checks and types what a request of an operation brings. */
export interface InputReader {
	query(request: HttpRequest): unknown;
	/** Undefined for the multipart body that an operation takes instead of a JSON one. */
	body(request: HttpRequest): Promise<unknown>;
}

/** Compiles an operation's validators, once. */
export function inputReader(operation: Operation): InputReader {
	const checkQuery = operation.query ? queryValidator(operation.query) : rejectQuery;
	const checkBody: Validator<unknown> | null = operation.body ? bodyValidator(operation.body) : null;
	return {
		query: (request) => checkQuery(queryObject(request)),
		async body(request) {
			if (operation.multipart && MULTIPART.test(request.header('content-type') ?? '')) return undefined;
			if (!checkBody) {
				await rejectBody(request);
				return undefined;
			}
			const value = await request.json();
			if (value === undefined) throw new AppError('invalid_request', 'The request needs a JSON body.');
			return checkBody(value);
		},
	};
}

async function callOf<O extends Operation>(
	_operation: O,
	read: InputReader,
	request: HttpRequest,
	caller: Caller,
): Promise<Call<O>> {
	const query = read.query(request);
	const body = await read.body(request);
	return { params: request.params, query, body, caller, request } as unknown as Call<O>;
}

/** A parameter that is given twice is not one of the two: it is refused. */
function queryObject(request: HttpRequest): Record<string, string> {
	// Without a prototype: a parameter may have any name.
	const query: Record<string, string> = Object.create(null);
	for (const [name, value] of request.query) {
		if (Object.hasOwn(query, name))
			throw new AppError('invalid_request', `The query parameter ${name} is given twice.`);
		query[name] = value;
	}
	return query;
}

function rejectQuery(value: unknown): unknown {
	const [name] = Object.keys(value as object);
	if (name === undefined) return value;
	throw new AppError('invalid_request', `/${name} is not a known query parameter.`, {
		details: [{ path: `/${name}`, message: 'is not a known query parameter' }],
	});
}

/** An empty JSON object is as good as no body: some clients cannot send none. */
async function rejectBody(request: HttpRequest): Promise<void> {
	if (!request.hasBody) return;
	const value = await request.json();
	const isEmpty =
		value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
	if (!isEmpty) throw new AppError('invalid_request', 'This operation takes no body.');
}

function rateHeaders(bucket: BucketState | null): Headers {
	if (!bucket) return [];
	return [
		['x-ratelimit-limit', String(bucket.limit)],
		['x-ratelimit-remaining', String(bucket.remaining)],
		['x-ratelimit-reset', String(bucket.resetSeconds)],
	];
}

function tooMany({ retryAfter }: BucketState): AppError {
	return new AppError('rate_limit_exceeded', `Too many requests. Try again in ${retryAfter} seconds.`, {
		retry_after: retryAfter,
	});
}

function withHeaders<R extends Reply>(reply: R, headers: Headers): R {
	return headers.length === 0 ? reply : { ...reply, headers: [...(reply.headers ?? []), ...headers] };
}
