import { AppError } from '../../base/index.ts';
import { ToolFailure } from '../tool-failure.ts';
import type { McpSdk } from './sdk.ts';

/** The prefix that the transport adds to the body of a response other than 2xx. */
const TRANSPORT_PREFIX = /^Streamable HTTP error: (Error POSTing to endpoint: )?/;

/** The HTTP status with which a server rejected a request; undefined where it did not. */
export function httpStatusOf({ StreamableHTTPError }: McpSdk, thrown: unknown): number | undefined {
	const code = thrown instanceof StreamableHTTPError ? thrown.code : undefined;
	return code !== undefined && code > 0 ? code : undefined;
}

/** Whether a failure is the server's error for this one request: the session is still usable. */
export function isProtocolError({ McpError }: McpSdk, thrown: unknown): boolean {
	return thrown instanceof McpError;
}

/** The error of a session's request as a ToolFailure. Abort reasons stay as they are. */
export function asMcpFailure(sdk: McpSdk, thrown: unknown): unknown {
	if (thrown instanceof ToolFailure || thrown instanceof AppError) return thrown;
	const status = httpStatusOf(sdk, thrown);
	if (status !== undefined) {
		const detail = (thrown as Error).message.replace(TRANSPORT_PREFIX, '');
		return new ToolFailure('bad_status', `The MCP server answered with status ${status}.`, { detail, status });
	}
	if (thrown instanceof sdk.McpError) {
		return new ToolFailure('tool_failed', `The MCP server refused: ${thrown.message}`);
	}
	if (thrown instanceof TypeError) {
		const message = 'The connection to the MCP server broke off before it answered.';
		return new ToolFailure('unreachable', message, { cause: thrown });
	}
	const message = 'What the server answered is not as the Model Context Protocol has it.';
	return new ToolFailure('unusable_answer', message, { cause: thrown });
}
