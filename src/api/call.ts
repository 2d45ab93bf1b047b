import type { Caller, IdempotencyClaim } from '../access/index.ts';
import type { Operation, OperationInput, OperationResult } from '../contract/index.ts';
import type { HttpRequest, RouteResponse } from '../http/index.ts';
import type { IdempotencyRecord, PendingReply } from '../store/index.ts';

/** A request to an operation that needs a credential, after validation and access. */
export interface Call<O extends Operation> extends OperationInput<O> {
	caller: Caller;
	request: HttpRequest;
	/** The versions of the resource that the client would change or remove (If-Match); null: any. */
	ifMatchVersions: readonly number[] | null;
	/**
	 * The answer as the part of a commit that makes repeats get it again; undefined where the client named no
	 * Idempotency-Key. It goes into the commit that the answer tells of.
	 */
	receipt(answer: HandlerResult<O>): IdempotencyRecord | undefined;
	/**
	 * Sees to repeats of a request for a handler of its own kind (`SelfIdempotentHandler`).
	 * @param fingerprint what makes two requests the same one; only asked for where repeats are to be seen to
	 * @param execute carries the request out; the claim is null where the client named no Idempotency-Key
	 * @param replayPending answers a repeat of a request whose stored response is pending
	 */
	runIdempotently(
		fingerprint: () => string,
		execute: (claim: IdempotencyClaim | null) => Promise<HandlerResult<O> | RawResponse>,
		replayPending?: (pending: PendingReply, claim: IdempotencyClaim) => Promise<HandlerResult<O> | RawResponse>,
	): Promise<HandlerResult<O> | RawResponse>;
}

/** A result with the version of the resource that it shows: the answer carries it as its ETag. */
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

/** What an operation answers with: its result, with the version where it is a resource of its own. */
export type HandlerResult<O extends Operation> = O extends { versioned: true }
	? VersionedResult<OperationResult<O>>
	: OperationResult<O>;

/** An answer that is more than a result in JSON: a stream, say. */
export class RawResponse {
	readonly response: RouteResponse;
	constructor(response: RouteResponse) {
		this.response = response;
	}
}

/** What answers an operation. A result is sent as JSON with the operation's status. */
export type HandlerFunction<O extends Operation> = (call: Call<O>) => Promise<HandlerResult<O> | RawResponse>;

/**
 * A handler that sees to repeats itself, by `call.once`: it learns only on the way what makes two requests the same, or its
 * answer is yet to come when the request has been carried out.
 */
export class SelfIdempotentHandler<O extends Operation> {
	readonly handle: HandlerFunction<O>;
	constructor(handle: HandlerFunction<O>) {
		this.handle = handle;
	}
}

export type Handler<O extends Operation> = HandlerFunction<O> | SelfIdempotentHandler<O>;
