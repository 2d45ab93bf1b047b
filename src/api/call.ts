import type { Caller, IdempotencyClaim } from '../access/index.ts';
import type { Operation, OperationInput, OperationResult, TakenOverBy } from '../contract/index.ts';
import type { HttpRequest, RouteResponse } from '../http/index.ts';
import type { PendingReply, RequestReceipt, UncommittedChange, Write } from '../store/index.ts';

/** A claim without its receipts, which `commit` and `requestReceipt` make. */
type ReleasableClaim = Pick<IdempotencyClaim, 'releaseEarly'>;

/** A request to an operation that needs a credential, after validation and access. */
export interface Call<O extends Operation> extends OperationInput<O> {
	caller: Caller;
	request: HttpRequest;
	/** The versions of the resource that the client would change or remove (If-Match); null: any. */
	ifMatchVersions: readonly number[] | null;
	/**
	 * Commits the change that the response reports, and in the same transaction its record in the audit log, and the response for
	 * repeats, where the client sent an Idempotency-Key.
	 * @param present makes the operation's result from that of the change
	 * @param resource what the audit log names as changed. Default: the operation's result
	 */
	commit<T>(
		change: UncommittedChange<T>,
		present: (result: T) => HandlerResult<O>,
		resource?: (result: T) => unknown,
	): Promise<HandlerResult<O>>;
	/**
	 * The write that records a change that an actor commits, for its commit.
	 * @param resource what is changed: an object with its id, and its name if it has one
	 */
	auditWrites(resource: { id: string; name?: string }): Write[];
	/** The receipt for a change that an actor commits; null where the client sent no Idempotency-Key. */
	requestReceipt(): RequestReceipt | null;
	/**
	 * Executes a request once and replays its response to repeats, for a `SelfIdempotentHandler`.
	 * @param fingerprint identifies repeats; only called where the client sent an Idempotency-Key
	 * @param execute executes the request; the claim is null where the client sent no Idempotency-Key
	 * @param replayPending responds to a repeat of a request whose stored response is pending
	 */
	runIdempotently(
		fingerprint: () => string,
		execute: (claim: ReleasableClaim | null) => Promise<HandlerResult<O> | RawResponse>,
		replayPending?: (pending: PendingReply, claim: ReleasableClaim) => Promise<HandlerResult<O> | RawResponse>,
	): Promise<HandlerResult<O> | RawResponse>;
}

/** A result with the version of the resource that it shows, which the response carries as its ETag. */
export class VersionedResult<T> {
	readonly result: T;
	readonly version: number;
	constructor(result: T, version: number) {
		this.result = result;
		this.version = version;
	}
}

/** A result with the version of the resource that it shows. */
export function withVersion<T>(result: T, { version }: { version: number }): VersionedResult<T> {
	return new VersionedResult(result, version);
}

/** The user or API key behind a request, as the resources that it changes name it. */
export function personOf({ userSession, credentialId, name }: Caller): TakenOverBy {
	return { id: userSession?.user.id ?? credentialId, name };
}

/** What a handler returns: the operation's result, with its version where it is a versioned resource. */
export type HandlerResult<O extends Operation> = O extends { versioned: true }
	? VersionedResult<OperationResult<O>>
	: OperationResult<O>;

/** A response that is not a result in JSON, such as an event stream. */
export class RawResponse {
	readonly response: RouteResponse;
	constructor(response: RouteResponse) {
		this.response = response;
	}
}

/** The handler of an operation. A result is sent as JSON with the operation's status. */
export type HandlerFunction<O extends Operation> = (call: Call<O>) => Promise<HandlerResult<O> | RawResponse>;

/**
 * A handler that calls `runIdempotently` itself, because it computes the fingerprint while it reads the request, or because its
 * response is still pending when the request has been executed.
 */
export class SelfIdempotentHandler<O extends Operation> {
	readonly handle: HandlerFunction<O>;
	constructor(handle: HandlerFunction<O>) {
		this.handle = handle;
	}
}

export type Handler<O extends Operation> = HandlerFunction<O> | SelfIdempotentHandler<O>;
