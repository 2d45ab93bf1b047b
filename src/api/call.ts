import type { Caller, Claim } from '../access/index.ts';
import type { Operation, OperationInput, OperationResult } from '../contract/index.ts';
import type { HttpRequest, Reply } from '../http/index.ts';
import type { IdempotencyRecord } from '../store/index.ts';

/** A request to an operation that needs a credential, after validation and access. */
export interface Call<O extends Operation> extends OperationInput<O> {
	caller: Caller;
	request: HttpRequest;
	/** The versions of the resource that the client would change or remove (If-Match); null: any. */
	ifVersion: readonly number[] | null;
	/**
	 * The answer as the part of a commit that makes repeats get it again; undefined where the client named no
	 * Idempotency-Key. It goes into the commit that the answer tells of.
	 */
	receipt(answer: Answer<O>): IdempotencyRecord | undefined;
	/**
	 * Sees to repeats of a request for a handler of its own kind (`OwnRepeats`).
	 * @param fingerprint what makes two requests the same one; only asked for where repeats are to be seen to
	 * @param execute carries the request out; the claim is null where the client named no Idempotency-Key
	 * @param pending answers a repeat of a request whose stored answer says where the answer will be found
	 */
	once(
		fingerprint: () => string,
		execute: (claim: Claim | null) => Promise<Answer<O> | RawReply>,
		pending?: (body: string, claim: Claim) => Promise<Answer<O> | RawReply>,
	): Promise<Answer<O> | RawReply>;
}

/** A result with the version of the resource that it shows: the answer carries it as its ETag. */
export class Versioned<T> {
	readonly result: T;
	readonly version: number;
	constructor(result: T, version: number) {
		this.result = result;
		this.version = version;
	}
}

/** A result with the version of the resource that it shows. */
export function versioned<T>(result: T, { version }: { version: number }): Versioned<T> {
	return new Versioned(result, version);
}

/** What an operation answers with: its result, with the version where it is a resource of its own. */
export type Answer<O extends Operation> = O extends { versioned: true }
	? Versioned<OperationResult<O>>
	: OperationResult<O>;

/** An answer that is more than a result in JSON: a stream, say. */
export class RawReply {
	readonly reply: Reply;
	constructor(reply: Reply) {
		this.reply = reply;
	}
}

/** What answers an operation. A result is sent as JSON with the operation's status. */
export type Handle<O extends Operation> = (call: Call<O>) => Promise<Answer<O> | RawReply>;

/**
 * A handler that sees to repeats itself, by `call.once`: it learns only on the way what makes two requests the same, or its
 * answer is yet to come when the request has been carried out.
 */
export class OwnRepeats<O extends Operation> {
	readonly handle: Handle<O>;
	constructor(handle: Handle<O>) {
		this.handle = handle;
	}
}

export type Handler<O extends Operation> = Handle<O> | OwnRepeats<O>;
