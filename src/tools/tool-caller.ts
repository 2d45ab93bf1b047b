import { randomUUID } from 'node:crypto';
import { type Clock, type Log, LruCache } from '../base/index.ts';
import type { ApiToolConfig, McpToolConfig } from '../contract/index.ts';
import type { Network } from '../net/index.ts';
import type { ToolRecord } from '../store/index.ts';
import { callApi } from './api/index.ts';
import { ArgumentCheck, type ArgumentChecker } from './argument-check.ts';
import { CallDeadline, unlessAborted } from './call-deadline.ts';
import type { ToolConfig } from './config.ts';
import { type McpFunction, type McpServer, mcpAnswerText } from './mcp/index.ts';
import { type OpenedTool, openTool } from './opened-tool.ts';
import { cutResult } from './result-text.ts';
import { asFailure, failedOutcome, logFailure, ToolFailure } from './tool-failure.ts';
import type { ToolOutcome } from './tool-function.ts';
import type { ToolSecrets } from './tool-secrets.ts';

/** Tools whose checks are remembered. */
const CHECKS = 512;
/** Characters of a function's own word on its failure that people are told. */
const MAX_WORD = 300;

export interface ToolCallerOptions {
	network: Pick<Network, 'fetch'>;
	checker: ArgumentChecker;
	secrets: ToolSecrets;
	clock: Clock;
	log: Log;
}

/** What came of a call, with what people who try a tool out want to know beside. */
export interface ToolTrial extends ToolOutcome {
	/** The HTTP status that an API answered with, or an MCP server refused with; null where there was none. */
	status_code: number | null;
}

/** Finds the function that is to be called, and the server that has it. */
type Find = (end: AbortSignal) => Promise<{ server: McpServer; called: McpFunction }>;

/** Calls tools: one call each, whatever comes of it. */
export class ToolCaller {
	readonly #options: ToolCallerOptions;
	/** By tool and version. */
	readonly #checks = new LruCache<string, ArgumentCheck>(CHECKS);

	constructor(options: ToolCallerOptions) {
		this.#options = options;
	}

	/** @throws only the signal's reason */
	api(tool: ToolRecord, args: unknown, signal: AbortSignal, key: string = randomUUID()): Promise<ToolTrial> {
		return this.#within<ApiToolConfig>(tool, signal, async ({ config, words }, end) => {
			const sound = await this.#checkOf(tool, config).read(args, end);
			const { status, result } = await callApi(this.#options.network, config, words, sound, key, end);
			return { result, is_error: false, error: null, status_code: status };
		});
	}

	/** @throws only the signal's reason */
	mcp(
		tool: ToolRecord,
		find: Find,
		args: unknown,
		signal: AbortSignal,
		key: string = randomUUID(),
	): Promise<ToolTrial> {
		return this.#within<McpToolConfig>(tool, signal, async ({ words }, end) => {
			const { server, called } = await find(end);
			const sound = await called.check.read(args, end);
			const answer = await server.call(called.name, sound, key, end);
			const text = words.hide(mcpAnswerText(answer));
			const message = `The function reported an error: ${text.slice(0, MAX_WORD)}`;
			const is_error = answer.isError === true;
			return {
				result: cutResult(text),
				is_error,
				error: is_error ? { code: 'tool_failed', message } : null,
				status_code: null,
			};
		});
	}

	/** Carries a call out within its tool's time limit, and tells what came of it. */
	async #within<C extends ToolConfig>(
		tool: ToolRecord,
		signal: AbortSignal,
		act: (opened: OpenedTool<C>, end: AbortSignal) => Promise<ToolTrial>,
	): Promise<ToolTrial> {
		signal.throwIfAborted();
		let hide = (text: string) => text;
		try {
			const opened = openTool<C>(this.#options.secrets, tool);
			hide = opened.words.hide;
			using deadline = deadlineOf(opened.config, signal);
			return await unlessAborted(act(opened, deadline.signal), deadline.signal);
		} catch (thrown) {
			signal.throwIfAborted();
			const failure = asFailure(thrown);
			logFailure(this.#options.log, tool, failure, hide);
			return { ...failedOutcome(failure, hide), status_code: failure.status };
		}
	}

	#checkOf({ id, version }: ToolRecord, { parameters }: ApiToolConfig): ArgumentCheck {
		const key = `${id} ${version}`;
		let check = this.#checks.get(key);
		if (!check) {
			check = new ArgumentCheck(parameters, this.#options);
			this.#checks.set(key, check);
		}
		return check;
	}
}

/** The end of whatever is done with a tool. */
export function deadlineOf({ timeout_ms }: Pick<ToolConfig, 'timeout_ms'>, signal: AbortSignal): CallDeadline {
	const late = () => new ToolFailure('timed_out', `The tool did not answer within ${timeout_ms / 1_000} seconds.`);
	return new CallDeadline(timeout_ms, signal, late);
}
