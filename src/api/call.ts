import type { Caller } from '../access/index.ts';
import type { Operation, OperationInput, OperationResult } from '../contract/index.ts';
import type { HttpRequest, Reply } from '../http/index.ts';

/** A request to an operation that needs a credential, after validation and access. */
export interface Call<O extends Operation> extends OperationInput<O> {
	caller: Caller;
	request: HttpRequest;
}

/** An answer that is more than a result in JSON: a stream, say. */
export class RawReply {
	readonly reply: Reply;
	constructor(reply: Reply) {
		this.reply = reply;
	}
}

/** What answers an operation. A result is sent as JSON with the operation's status. */
export type Handler<O extends Operation> = (call: Call<O>) => Promise<OperationResult<O> | RawReply>;
