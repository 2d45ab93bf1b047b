import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { type Clock, elapsedMs, rejectOnAbort } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import type { ArgumentCheckRunner } from '../argument-validator.ts';
import { CallDeadline } from '../call-deadline.ts';
import { ToolFailure } from '../tool-failure.ts';
import type { ToolCallContext } from '../tool-function.ts';
import { asMcpFailure, httpStatusOf, isProtocolError } from './mcp-failure.ts';
import { type McpFunction, mcpFunctionsOf } from './mcp-function.ts';
import { McpSession } from './mcp-session.ts';
import { loadSdk } from './sdk.ts';
import { SharedSession } from './shared-session.ts';

/** Lifetimes and time limits of a server's data. */
export interface McpTimeouts {
	/** Milliseconds for opening a session, and for all pages of a list. */
	openTimeoutMs: number;
	/** Milliseconds after which a list is requested again. */
	listTtlMs: number;
	/** Milliseconds for which a server that could not be listed is not asked again for a reply. */
	listRetryCooldownMs: number;
	/** Milliseconds that a reply waits for a list. */
	listTimeoutMs: number;
}

export interface McpServerOptions {
	network: Pick<Network, 'fetch'>;
	checker: ArgumentCheckRunner;
	clock: Clock;
	version: string;
	url: string;
	/** With secrets; called when a session is opened. */
	headers(): Readonly<Record<string, string>>;
	times: McpTimeouts;
}

/** A list request in flight. */
interface PendingList {
	list: Promise<McpFunction[]>;
	since: number;
}

/** The statuses for an unknown session: 404 by the protocol, 400 from many servers. */
const SESSION_LOST_STATUSES = new Set([404, 400]);

/** The MCP server of one tool: a session that is reopened when it is lost, and the cached list of functions. */
export class McpServer implements AsyncDisposable {
	readonly #options: McpServerOptions;
	#session: SharedSession | null = null;
	#cachedList: { functions: McpFunction[]; until: number } | null = null;
	#pendingList: PendingList | null = null;
	/** Why it could not be listed, and until when that failure is cached. All times are on the monotonic clock. */
	#listFailure: { reason: unknown; until: number } | null = null;
	#isRetired = false;
	readonly #closing = new AbortController();
	/** Grows with each notification that the list has changed. */
	#listVersion = 0;

	constructor(options: McpServerOptions) {
		this.#options = options;
	}

	/**
	 * The functions of the server, requested now.
	 * @throws ToolFailure; AppError of the network; the signal's reason
	 */
	functions(signal: AbortSignal): Promise<McpFunction[]> {
		return rejectOnAbort(this.#requestList().list, signal);
	}

	/**
	 * The functions of the server from the cache, else requested. For replies, which cannot wait: rejects after a time limit
	 * that starts with the first request, and at once where a request failed just now.
	 * @throws ToolFailure; AppError of the network; the signal's reason
	 */
	async cachedFunctions(signal: AbortSignal): Promise<McpFunction[]> {
		const { clock, times } = this.#options;
		const now = elapsedMs(clock);
		if (this.#cachedList && now < this.#cachedList.until) return this.#cachedList.functions;
		if (this.#listFailure && now < this.#listFailure.until) throw this.#listFailure.reason;
		const timeout = () => new ToolFailure('timed_out', 'The MCP server takes long to list its functions.');
		const remainingMs = times.listTimeoutMs - (this.#pendingList ? now - this.#pendingList.since : 0);
		if (remainingMs <= 0) throw timeout();
		using deadline = new CallDeadline(remainingMs, signal, timeout);
		return await this.functions(deadline.signal);
	}

	/**
	 * Calls a function.
	 * @throws ToolFailure; AppError of the network; the signal's reason
	 */
	async call(
		name: string,
		args: Record<string, unknown>,
		context: ToolCallContext,
		signal: AbortSignal,
	): Promise<CallToolResult> {
		return this.#withSession(signal, (session) => session.callTool(name, args, context, signal));
	}

	/** Closes the session once its requests in flight have ended. */
	retire(): void {
		this.#isRetired = true;
		this.#dropSession(this.#session);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#closing.abort(new ToolFailure('unreachable', 'This server is being stopped.'));
		await this.#session?.close();
	}

	#requestList(): PendingList {
		if (this.#pendingList) return this.#pendingList;
		const { clock, times } = this.#options;
		const pending: PendingList = { list: this.#list(), since: elapsedMs(clock) };
		this.#pendingList = pending;
		pending.list.then(
			() => {
				this.#pendingList = null;
				this.#listFailure = null;
			},
			(reason: unknown) => {
				this.#pendingList = null;
				this.#listFailure = { reason, until: elapsedMs(clock) + times.listRetryCooldownMs };
			},
		);
		return pending;
	}

	async #list(): Promise<McpFunction[]> {
		const { clock, times } = this.#options;
		const timeout = () =>
			new ToolFailure('timed_out', `The MCP server did not list its functions within ${seconds(times.openTimeoutMs)}.`);
		// The request has its own deadline, not that of the first caller: others wait for it too.
		using deadline = new CallDeadline(times.openTimeoutMs, this.#closing.signal, timeout);
		const { signal } = deadline;
		const versionBefore = this.#listVersion;
		const listed = await this.#withSession(signal, (session) => session.listTools(signal));
		const functions = mcpFunctionsOf(listed, this.#options);
		this.#cachedList = {
			functions,
			until: this.#listVersion === versionBefore ? elapsedMs(clock) + times.listTtlMs : 0,
		};
		return functions;
	}

	/** Runs a request in a session; in a new one if the server does not know the session any more. */
	async #withSession<T>(signal: AbortSignal, act: (session: McpSession) => Promise<T>): Promise<T> {
		const previous = this.#session;
		let current = this.#currentSession();
		for (let isRepeat = current !== previous; ; isRepeat = true) {
			try {
				return await current.use(signal, act);
			} catch (thrown) {
				const sdk = await loadSdk();
				if (isProtocolError(sdk, thrown)) throw asMcpFailure(sdk, thrown);
				const isCancelled = signal.aborted && !(signal.reason instanceof ToolFailure);
				if (!isCancelled) this.#dropSession(current);
				if (signal.aborted) throw signal.reason;
				if (isRepeat || !SESSION_LOST_STATUSES.has(httpStatusOf(sdk, thrown) ?? 0)) throw asMcpFailure(sdk, thrown);
				// The server did not process a request that it rejected: it may be repeated.
				current = this.#currentSession();
			} finally {
				if (this.#isRetired) this.#dropSession(this.#session);
			}
		}
	}

	/** The open session, or a new one. */
	#currentSession(): SharedSession {
		if (this.#session) return this.#session;
		const opening = this.#openSession();
		const session = new SharedSession(opening);
		this.#session = session;
		opening.catch(() => this.#dropSession(session));
		return session;
	}

	async #openSession(): Promise<McpSession> {
		const { network, url, headers, version, times } = this.#options;
		const timeout = () =>
			new ToolFailure('timed_out', `The MCP server opened no session within ${seconds(times.openTimeoutMs)}.`);
		// A failure to load the SDK is not the server's.
		await loadSdk();
		using deadline = new CallDeadline(times.openTimeoutMs, this.#closing.signal, timeout);
		const onToolsChanged = () => this.#invalidateList();
		return await McpSession.open({ network, url, headers: headers(), version, onToolsChanged }, deadline.signal);
	}

	/** A new session may have other functions. */
	#dropSession(session: SharedSession | null): void {
		if (session === null || this.#session !== session) return;
		this.#session = null;
		this.#invalidateList();
		session.retire();
	}

	#invalidateList(): void {
		this.#listVersion++;
		this.#cachedList = null;
	}
}

function seconds(ms: number): string {
	return `${ms / 1_000} seconds`;
}
