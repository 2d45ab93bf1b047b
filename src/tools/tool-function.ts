/** A function as a model is offered it for one reply. */
export interface ToolFunction {
	tool_id: string;
	/** `^[a-zA-Z0-9_-]{1,64}$`; unlike those of all others that are offered with it. */
	name: string;
	description: string | null;
	/** JSON Schema of its arguments, which are an object. */
	parameters: object;
	/**
	 * Calls it once, within the tool's time limit. Whatever comes of it is its outcome; rejects only with the signal's
	 * reason. What a call has changed elsewhere stays changed when it is given up.
	 * @param key what this call is known by where it may change something, for whoever would carry it out twice: printable
	 * ASCII without quotation marks; absent: one that no other call has
	 */
	call(args: unknown, signal: AbortSignal, key?: string): Promise<ToolOutcome>;
}

/** What came of a call. Holds no secret of the tool. */
export interface ToolOutcome {
	/** What the model is told, at most 32 KiB of UTF-8. */
	result: string;
	is_error: boolean;
	/** Why it failed, in one sentence for people; null where it did not. */
	error: { code: ToolErrorCode; message: string } | null;
}

/** Why a call failed. */
export type ToolErrorCode =
	/** Nothing was sent: they do not fit the tool's schema, or its templates. */
	| 'invalid_arguments'
	/** An MCP server does not offer what is to be called. */
	| 'unknown_function'
	/** The network guard refuses where the tool leads. */
	| 'url_not_allowed'
	/** No connection, or one that broke off. */
	| 'unreachable'
	| 'timed_out'
	/** An HTTP status other than 2xx. */
	| 'bad_status'
	/** Binary, too large, or not what the protocol has. */
	| 'unusable_answer'
	/** An MCP server's own word that the call has failed. */
	| 'tool_failed'
	/** A fault of this server. */
	| 'internal_error';
