/** A function that a model may call in one reply. */
export interface ToolFunction {
	tool_id: string;
	/** `^[a-zA-Z0-9_-]{1,64}$`; unique within the reply. */
	name: string;
	description: string | null;
	/** JSON Schema of its arguments, which are an object. */
	parameters: object;
	/**
	 * Calls it once, within the tool's time limit. A failure is an outcome too; rejects only with the signal's reason. An
	 * aborted call may have taken effect.
	 * @param context absent: a random key, and no trace
	 */
	call(args: unknown, signal: AbortSignal, context?: ToolCallContext): Promise<ToolOutcome>;
}

/** What a call tells its server about itself. */
export interface ToolCallContext {
	/** The idempotency key, by which the server recognises a repeat: printable ASCII without quotation marks. */
	key: string;
	/** Headers of W3C Trace Context; empty if the call is not traced. */
	traceHeaders: Readonly<Record<string, string>>;
}

/** The outcome of a call. It has no secret of the tool. */
export interface ToolOutcome {
	/** The result for the model, at most 32 KiB of UTF-8. */
	result: string;
	is_error: boolean;
	/** Why it failed, in one sentence for people; null where it succeeded. */
	error: { code: ToolErrorCode; message: string } | null;
}

/** Why a call failed. */
export type ToolErrorCode =
	/** Nothing was sent: the arguments are not valid by the tool's schema, or in its templates. */
	| 'invalid_arguments'
	/** The MCP server has no function of this name. */
	| 'unknown_function'
	/** The SSRF guard blocks the tool's address. */
	| 'url_not_allowed'
	/** No connection, or a connection that was lost. */
	| 'unreachable'
	| 'timed_out'
	/** An HTTP status other than 2xx. */
	| 'bad_status'
	/** Binary, too large, or not valid by the protocol. */
	| 'unusable_answer'
	/** The MCP server reports that the call failed. */
	| 'tool_failed'
	/** A defect of this server. */
	| 'internal_error';
