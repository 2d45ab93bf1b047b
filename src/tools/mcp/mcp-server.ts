import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { type Clock, elapsedMs, rejectOnAbort } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import type { ArgumentCheckRunner } from '../argument-validator.ts';
import { CallDeadline } from '../call-deadline.ts';
import { ToolFailure } from '../tool-failure.ts';
import { asMcpFailure, httpStatusOf, isProtocolError } from './mcp-failure.ts';
import { type McpFunction, mcpFunctionsOf } from './mcp-function.ts';
import { McpSession } from './mcp-session.ts';
import { loadSdk } from './sdk.ts';
import { SharedSession } from './shared-session.ts';

/** How long what is known of a server is good for. */
export interface McpTimeouts {
	/** Milliseconds for opening a session, and for all pages of a list. */
	openTimeoutMs: number;
	/** Milliseconds after which a list is asked for again. */
	listTtlMs: number;
	/** Milliseconds for which a server that could not be listed is not asked again by those who cannot wait. */
	listRetryCooldownMs: number;
	/** Milliseconds that a list is waited for by those who cannot wait longer. */
	listTimeoutMs: number;
}

export interface McpServerOptions {
	network: Pick<Network, 'fetch'>;
	checker: ArgumentCheckRunner;
	clock: Clock;
	version: string;
	url: string;
	/** Secrets included; asked for when a session is opened. */
	headers(): Readonly<Record<string, string>>;
	times: McpTimeouts;
}

/** A list that is being asked for. */
interface PendingList {
	list: Promise<McpFunction[]>;
	since: number;
}

/** With these a server refuses a session that it has forgotten: 404 by the protocol, 400 as many have it. */
const SESSION_LOST_STATUSES = new Set([404, 400]);

/** One MCP server as one tool reaches it: a session that is made anew when it is lost, and what the server offers. */
export class McpServer implements AsyncDisposable {
	readonly #options: McpServerOptions;
	#session: SharedSession | null = null;
	#cachedList: { functions: McpFunction[]; until: number } | null = null;
	#pendingList: PendingList | null = null;
	/** Why it could not be listed, and until when that is taken for granted. Here all is by the time that passes. */
	#listFailure: { reason: unknown; until: number } | null = null;
	#isRetired = false;
	readonly #closing = new AbortController();
	/** Grows with each word that the list is no longer what it was. */
	#listVersion = 0;

	constructor(options: McpServerOptions) {
		this.#options = options;
	}

	/**
	 * What the server offers, asked for now.
	 * @throws ToolFailure; AppError of the network; the signal's reason
	 */
	functions(signal: AbortSignal): Promise<McpFunction[]> {
		return rejectOnAbort(this.#requestList().list, signal);
	}

	/**
	 * What the server offers as far as it is known, else asked for; for whoever cannot wait: gives up after a while counted
	 * from when it was first asked for, and at once where it could not be had just now.
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
	 * @param key tells this call from all others, and a repeat of it from a new one
	 * @throws ToolFailure; AppError of the network; the signal's reason
	 */
	async call(name: string, args: Record<string, unknown>, key: string, signal: AbortSignal): Promise<CallToolResult> {
		return this.#withSession(signal, (session) => session.callTool(name, args, key, signal));
	}

	/** Ends the session once nothing of it is under way; a session that is still needed after that ends with its need. */
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
		// Its own end, not that of whoever asked first: others wait for it too.
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

	/** Has a session do something; in a new one where the server has forgotten the one that there was. */
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
				// The server has not done what it refused to listen to: it may be asked again.
				current = this.#currentSession();
			} finally {
				if (this.#isRetired) this.#dropSession(this.#session);
			}
		}
	}

	/** The session that there is, or a new one. */
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
		// Loading the SDK is no fault of the server.
		await loadSdk();
		using deadline = new CallDeadline(times.openTimeoutMs, this.#closing.signal, timeout);
		const onToolsChanged = () => this.#invalidateList();
		return await McpSession.open({ network, url, headers: headers(), version, onToolsChanged }, deadline.signal);
	}

	/** What a new session is offered may be something else. */
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
