import { randomUUID } from 'node:crypto';
import { type Clock, type Log, LruCache, rejectOnAbort } from '../base/index.ts';
import type { ApiToolConfig, McpToolConfig, ToolRequest } from '../contract/index.ts';
import type { Network } from '../net/index.ts';
import type { ToolRecord } from '../store/index.ts';
import { callApi, fillRequest, presentRequest } from './api/index.ts';
import { type ArgumentCheckRunner, ArgumentValidator } from './argument-validator.ts';
import { CallDeadline } from './call-deadline.ts';
import type { ToolConfig } from './config.ts';
import { type McpFunction, type McpServer, mcpResultText } from './mcp/index.ts';
import { type OpenedTool, openTool } from './opened-tool.ts';
import { truncateResult } from './result-text.ts';
import { failedOutcome, logFailure, ToolFailure, toToolFailure } from './tool-failure.ts';
import type { ToolCallContext, ToolOutcome } from './tool-function.ts';
import type { ToolSecrets } from './tool-secrets.ts';

/** Tools whose argument validators are cached. */
const VALIDATOR_CACHE_SIZE = 512;
/** Characters of a function's own error text that people see. */
const MAX_ERROR_CHARACTERS = 300;

export interface ToolCallerOptions {
	network: Pick<Network, 'fetch'>;
	checker: ArgumentCheckRunner;
	secrets: ToolSecrets;
	clock: Clock;
	log: Log;
}

/** The outcome of a call with its status. */
export interface CallOutcome extends ToolOutcome {
	/** The HTTP status of an API's response, or of an MCP server's error; null where there was none. */
	status_code: number | null;
}

/** The outcome of a call, with details for people who try a tool out. */
export interface ToolTrial extends CallOutcome {
	/** The request to an API, without secrets; null where none was made. */
	request: ToolRequest | null;
}

/** Finds the function to call, and the server that has it. */
type FindFunction = (end: AbortSignal) => Promise<{ server: McpServer; called: McpFunction }>;

/** Calls tools. A call is made once and never retried. */
export class ToolCaller {
	readonly #options: ToolCallerOptions;
	/** By tool and version. */
	readonly #validators = new LruCache<string, ArgumentValidator>(VALIDATOR_CACHE_SIZE);

	constructor(options: ToolCallerOptions) {
		this.#options = options;
	}

	/** @throws only the signal's reason */
	callApi(
		tool: ToolRecord,
		args: unknown,
		signal: AbortSignal,
		context: ToolCallContext = newContext(),
	): Promise<ToolOutcome> {
		return this.#callApi(tool, args, signal, context);
	}

	/** Calls an API as `callApi` does, and returns its request too. @throws only the signal's reason */
	async tryApi(tool: ToolRecord, args: unknown, signal: AbortSignal): Promise<ToolTrial> {
		let request: ToolRequest | null = null;
		const outcome = await this.#callApi(tool, args, signal, newContext(), (made) => {
			request = made;
		});
		return { ...outcome, request };
	}

	/** @throws only the signal's reason */
	callMcp(
		tool: ToolRecord,
		find: FindFunction,
		args: unknown,
		signal: AbortSignal,
		context: ToolCallContext = newContext(),
	): Promise<CallOutcome> {
		return this.#withDeadline<McpToolConfig>(tool, signal, async ({ redactor }, end) => {
			const { server, called: mcpFunction } = await find(end);
			const validArgs = await mcpFunction.check.validate(args, end);
			const result = await server.call(mcpFunction.name, validArgs, context, end);
			const text = redactor.redact(mcpResultText(result));
			const message = `The function reported an error: ${text.slice(0, MAX_ERROR_CHARACTERS)}`;
			const is_error = result.isError === true;
			return {
				result: truncateResult(text),
				is_error,
				error: is_error ? { code: 'tool_failed', message } : null,
				status_code: null,
			};
		});
	}

	#callApi(
		tool: ToolRecord,
		args: unknown,
		signal: AbortSignal,
		context: ToolCallContext,
		show?: (request: ToolRequest) => void,
	): Promise<CallOutcome> {
		return this.#withDeadline<ApiToolConfig>(tool, signal, async ({ config, redactor }, end) => {
			const validArgs = await this.#validatorOf(tool, config).validate(args, end);
			const request = fillRequest(config, validArgs, context);
			show?.(presentRequest(request, config, redactor));
			const { status, result } = await callApi(this.#options.network, request, redactor, end);
			return { result, is_error: false, error: null, status_code: status };
		});
	}

	/** Makes a call within its tool's time limit, and returns its outcome. */
	async #withDeadline<C extends ToolConfig>(
		tool: ToolRecord,
		signal: AbortSignal,
		act: (opened: OpenedTool<C>, end: AbortSignal) => Promise<CallOutcome>,
	): Promise<CallOutcome> {
		signal.throwIfAborted();
		let redact = (text: string) => text;
		try {
			const opened = openTool<C>(this.#options.secrets, tool);
			redact = opened.redactor.redact;
			using deadline = deadlineOf(opened.config, signal);
			return await rejectOnAbort(act(opened, deadline.signal), deadline.signal);
		} catch (thrown) {
			signal.throwIfAborted();
			const failure = toToolFailure(thrown);
			logFailure(this.#options.log, tool, failure, redact);
			return { ...failedOutcome(failure, redact), status_code: failure.status };
		}
	}

	#validatorOf({ id, version }: ToolRecord, { parameters }: ApiToolConfig): ArgumentValidator {
		const key = `${id} ${version}`;
		let check = this.#validators.get(key);
		if (!check) {
			check = new ArgumentValidator(parameters, this.#options);
			this.#validators.set(key, check);
		}
		return check;
	}
}

/** Of a call that is no part of a reply. */
const newContext = (): ToolCallContext => ({ key: randomUUID(), traceHeaders: {} });

/** The deadline of an operation on a tool. */
export function deadlineOf({ timeout_ms }: Pick<ToolConfig, 'timeout_ms'>, signal: AbortSignal): CallDeadline {
	const timeout = () => new ToolFailure('timed_out', `The tool did not answer within ${timeout_ms / 1_000} seconds.`);
	return new CallDeadline(timeout_ms, signal, timeout);
}
