import { AppError, type Clock, type Log, type SecretBox } from '../base/index.ts';
import type { ApiToolConfig, McpToolConfig } from '../contract/index.ts';
import type { Network } from '../net/index.ts';
import type { ToolRecord } from '../store/index.ts';
import type { ArgumentCheckRunner } from './argument-validator.ts';
import { FunctionNames, mcpFunctionName } from './function-names.ts';
import { InFlightCalls } from './in-flight-calls.ts';
import { invalidRequestAt } from './invalid-request.ts';
import type { McpServersOptions } from './mcp/index.ts';
import { openTool, sealedConfig } from './opened-tool.ts';
import { deadlineOf, ToolCaller, type ToolTrial } from './tool-caller.ts';
import { failedOutcome, logFailure, ToolFailure, toToolFailure } from './tool-failure.ts';
import type { ToolFunction } from './tool-function.ts';
import { ToolMcpServers } from './tool-mcp-servers.ts';
import { ToolSecrets } from './tool-secrets.ts';

/** Lifetimes and time limits of MCP servers, in milliseconds. */
export type ToolTimeouts = McpServersOptions['times'];

const DEFAULT_TIMEOUTS: ToolTimeouts = {
	openTimeoutMs: 10_000,
	listTtlMs: 300_000,
	listRetryCooldownMs: 30_000,
	listTimeoutMs: 3_000,
	idleMs: 300_000,
};

/** Functions that a model gets for a reply: providers accept no more. */
const MAX_FUNCTIONS = 128;

export interface ToolsOptions {
	network: Pick<Network, 'fetch'>;
	checker: ArgumentCheckRunner;
	secrets: SecretBox;
	clock: Clock;
	log: Log;
	/** The version of this program, for MCP servers. */
	version: string;
	timeouts?: Partial<ToolTimeouts> | undefined;
}

/** Concurrent trials and listings of one workspace: enough for people, too few to exhaust the server's sockets. */
const MAX_CONCURRENT_TRIALS = 5;

/** A function of a tool, under the tool's own name for it. */
export type OfferedFunction = Pick<ToolFunction, 'name' | 'description'> & { parameters: Record<string, unknown> };

/** The tools of assistants: lists their functions and calls them. */
export class Tools implements AsyncDisposable {
	readonly #secrets: ToolSecrets;
	readonly #servers: ToolMcpServers;
	readonly #caller: ToolCaller;
	readonly #trials = new InFlightCalls(MAX_CONCURRENT_TRIALS, 'trials of tools');
	readonly #log: Log;

	constructor({ network, checker, secrets, clock, log, version, timeouts }: ToolsOptions) {
		this.#secrets = new ToolSecrets(secrets);
		this.#servers = new ToolMcpServers(this.#secrets, {
			network,
			checker,
			clock,
			version,
			times: { ...DEFAULT_TIMEOUTS, ...timeouts },
		});
		this.#caller = new ToolCaller({ network, checker, secrets: this.#secrets, clock, log });
		this.#log = log;
	}

	/**
	 * The functions of some tools, in their order. Tools that are disabled have none, nor do MCP servers that cannot be listed
	 * within a few seconds.
	 * @throws only the signal's reason
	 */
	async functionsOf(tools: readonly ToolRecord[], signal: AbortSignal): Promise<ToolFunction[]> {
		signal.throwIfAborted();
		const active = tools.filter(({ status }) => status === 'active');
		const offered = (await Promise.all(active.map((tool) => this.#functionsOfOne(tool, signal)))).flat();
		signal.throwIfAborted();
		if (offered.length > MAX_FUNCTIONS) {
			this.#log.warn({ offered: offered.length, told: MAX_FUNCTIONS }, 'tools offer more functions than a model gets');
		}
		const names = new FunctionNames();
		return offered.slice(0, MAX_FUNCTIONS).map((each) => ({ ...each, name: names.reserve(each.name) }));
	}

	/**
	 * All functions of one tool, listed now.
	 * @throws AppError `unavailable` where its MCP server cannot be listed, `url_not_allowed`, `rate_limit_exceeded`; the
	 * signal's reason
	 */
	async list(tool: ToolRecord, signal: AbortSignal): Promise<OfferedFunction[]> {
		if (!isMcp(tool)) return [apiFunction(tool)];
		try {
			const functions = await this.#trial(tool, async () => {
				using deadline = deadlineOf(sealedConfig(tool), signal);
				return await this.#servers.serverFor(tool).functions(deadline.signal);
			});
			return functions.map(({ name, description, parameters }) => ({ name, description, parameters }));
		} catch (thrown) {
			signal.throwIfAborted();
			if (thrown instanceof AppError && thrown.code === 'rate_limit_exceeded') throw thrown;
			const { code, message } = this.#logListFailure(tool, thrown);
			if (code === 'url_not_allowed') throw new AppError(code, message, { cause: thrown });
			throw new AppError('unavailable', message, { retry_after: 5, cause: thrown });
		}
	}

	/**
	 * Calls a tool as a model would, also while it is disabled.
	 * @param functionName the tool's own name of the function; required for an MCP server
	 * @throws AppError `invalid_request` where the function is not named, `rate_limit_exceeded`; the signal's reason
	 */
	async tryOut(
		tool: ToolRecord,
		functionName: string | undefined,
		args: unknown,
		signal: AbortSignal,
	): Promise<ToolTrial> {
		if (!isMcp(tool)) {
			if (functionName === undefined || functionName === tool.name) {
				return this.#trial(tool, () => this.#caller.tryApi(tool, args, signal));
			}
			return { ...failedOutcome(unknownFunction('tool', functionName), identity), status_code: null, request: null };
		}
		if (functionName === undefined) throw invalidRequestAt(['function'], 'is required: an MCP server has many');
		const find = async (end: AbortSignal) => {
			const server = this.#servers.serverFor(tool);
			const mcpFunction = (await server.functions(end)).find(({ name }) => name === functionName);
			if (mcpFunction) return { server, called: mcpFunction };
			throw unknownFunction('MCP server', functionName);
		};
		const outcome = await this.#trial(tool, () => this.#caller.callMcp(tool, find, args, signal));
		return { ...outcome, request: null };
	}

	/** Ends all sessions. */
	[Symbol.asyncDispose](): Promise<void> {
		return this.#servers[Symbol.asyncDispose]();
	}

	#trial<T>(tool: ToolRecord, act: () => Promise<T>): Promise<T> {
		return this.#trials.run(tool.workspace_id, sealedConfig(tool).timeout_ms, act);
	}

	async #functionsOfOne(tool: ToolRecord, signal: AbortSignal): Promise<ToolFunction[]> {
		const tool_id = tool.id;
		if (!isMcp(tool)) {
			return [
				{
					tool_id,
					...apiFunction(tool),
					call: (args, signal, context) => this.#caller.callApi(tool, args, signal, context),
				},
			];
		}
		try {
			const { allowed_tools } = sealedConfig<McpToolConfig>(tool);
			const functions = await this.#servers.serverFor(tool).cachedFunctions(signal);
			return functions
				.filter(({ name }) => allowed_tools === null || allowed_tools.includes(name))
				.map((mcpFunction) => ({
					tool_id,
					name: mcpFunctionName(tool.name, mcpFunction.name),
					description: mcpFunction.description,
					parameters: mcpFunction.parameters,
					call: (args, signal, context) =>
						this.#caller.callMcp(
							tool,
							async () => ({ server: this.#servers.serverFor(tool), called: mcpFunction }),
							args,
							signal,
							context,
						),
				}));
		} catch (thrown) {
			if (!signal.aborted) this.#logListFailure(tool, thrown);
			return [];
		}
	}

	/** Why a server could not be listed; it is logged too. */
	#logListFailure(tool: ToolRecord, thrown: unknown): Pick<ToolFailure, 'code' | 'message'> {
		const failure = toToolFailure(thrown);
		const redact = this.#redactorFor(tool);
		logFailure(this.#log, tool, failure, redact);
		return { code: failure.code, message: redact(failure.message) };
	}

	/** Redacts a tool's secrets in a text. Secrets that cannot be opened were never sent. */
	#redactorFor(tool: ToolRecord): (text: string) => string {
		try {
			return openTool(this.#secrets, tool).redactor.redact;
		} catch {
			return identity;
		}
	}
}

function unknownFunction(where: string, name: string): ToolFailure {
	return new ToolFailure('unknown_function', `The ${where} offers no function ${name}.`);
}

function identity(text: string): string {
	return text;
}

function isMcp({ type }: ToolRecord): boolean {
	return type === 'mcp';
}

/** An API tool has one function, under the tool's name. */
function apiFunction(tool: ToolRecord): OfferedFunction {
	const { parameters } = sealedConfig<ApiToolConfig>(tool);
	return { name: tool.name, description: tool.description, parameters };
}
