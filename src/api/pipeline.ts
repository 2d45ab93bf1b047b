import type { Access, BucketState, Claim, Credentials, Idempotency } from '../access/index.ts';
import { AppError, type Log, type SecretBox } from '../base/index.ts';
import { bodyValidator, type Operation, queryValidator, type Validator } from '../contract/index.ts';
import { errorReply, type Headers, type HttpRequest, type Reply, type Route } from '../http/index.ts';
import { Answers, versionsOf } from './answers.ts';
import { type Call, type Handler, OwnRepeats } from './call.ts';
import { fingerprintOf, repeatKey, runOnce } from './repeats.ts';

/** Milliseconds until an answer must have begun. Replies of a model may take longer: they have a limit of their own. */
const DEADLINE_MS = 60_000;
const REPLY_DEADLINE_MS = 15 * 60_000;
/** A large file on a slow line: the body's way counts too. */
const UPLOAD_DEADLINE_MS = 10 * 60_000;

const MULTIPART = /^multipart\/form-data[ \t]*(?:$|;)/i;

export interface PipelineOptions {
	access: Access;
	idempotency: Idempotency;
	secrets: SecretBox;
	log: Log;
}

/**
 * The way of a request with a credential: who is it, may they, how often, is it well formed, was it answered before; then
 * the handler. Every answer says how much of the rate limit is left.
 */
export function keyRoute<O extends Operation>(operation: O, handler: Handler<O>, options: PipelineOptions): Route {
	const { access, log } = options;
	const read = inputReader(operation);
	const rule = operation.access;
	if (rule.kind !== 'key') throw new Error(`${operation.path} is not an operation for API keys`);
	return {
		method: operation.method,
		path: operation.path,
		deadlineMs: deadlineOf(operation),
		async handle(request): Promise<Reply> {
			let limits: Headers = [];
			try {
				const caller = await access.authenticate(credentialsOf(request));
				const bucket = await access.count(caller);
				limits = rateHeaders(bucket);
				if (bucket && !bucket.allowed) throw tooMany(bucket);
				if (rule.scope !== null) access.requireScope(caller, rule.scope);
				const query = read.query(request);
				const ifVersion = versionsOf(request.header('if-match'));
				const body = await read.body(request);
				const input = { params: request.params, query, body, caller, request, ifVersion } as never;
				return withHeaders(await answered(operation, handler, input, options), limits);
			} catch (error) {
				return withHeaders(errorReply(error, request.id, log), limits);
			}
		},
	};
}

/** What a request brings along to say who sends it. */
function credentialsOf(request: HttpRequest): Credentials {
	return { authorization: request.header('authorization') };
}

/** Lets the handler answer, and sees to repeats where it does not do that itself. */
async function answered<O extends Operation>(
	operation: O,
	handler: Handler<O>,
	input: Omit<Call<O>, 'receipt' | 'once'>,
	{ idempotency, secrets, log }: PipelineOptions,
): Promise<Reply> {
	const { caller, request } = input;
	const scope = `${caller.workspaceId} ${operation.method} ${request.path}`;
	const key = operation.method === 'POST' ? repeatKey(request) : null;
	const answers = new Answers(operation, operation.secret ? secrets : null, request, log);
	let claimed: Claim | null = null;
	const call: Call<O> = {
		...input,
		receipt: (answer) => claimed?.receipt(answers.stored(answer)),
		async once(fingerprint, execute, pending) {
			if (key === null) return execute(null);
			return runOnce(
				idempotency,
				{ scope, key, fingerprint },
				answers,
				(claim) => {
					claimed = claim;
					return execute(claim);
				},
				pending,
				request.signal,
			);
		},
	} as Call<O>;
	const result =
		handler instanceof OwnRepeats
			? await handler.handle(call)
			: await call.once(fingerprintOf(call.body), () => handler(call));
	return answers.reply(result);
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
