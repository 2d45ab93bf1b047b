import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { type Clock, elapsedMs } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import type { ArgumentChecker } from '../argument-check.ts';
import { CallDeadline, unlessAborted } from '../call-deadline.ts';
import { ToolFailure } from '../tool-failure.ts';
import { HeldSession } from './held-session.ts';
import { asMcpFailure, isAnswered, refusedWith } from './mcp-failure.ts';
import { type McpFunction, mcpFunctionsOf } from './mcp-function.ts';
import { McpSession } from './mcp-session.ts';
import { loadSdk } from './sdk.ts';

/** How long what is known of a server is good for. */
export interface McpTimes {
	/** Milliseconds for opening a session, and for all pages of a list. */
	openMs: number;
	/** Milliseconds after which a list is asked for again. */
	listMs: number;
	/** Milliseconds for which a server that could not be listed is not asked again by those who cannot wait. */
	respiteMs: number;
	/** Milliseconds that a list is waited for by those who cannot wait longer. */
	patienceMs: number;
}

export interface McpServerOptions {
	network: Pick<Network, 'fetch'>;
	checker: ArgumentChecker;
	clock: Clock;
	version: string;
	url: string;
	/** Secrets included; asked for when a session is opened. */
	headers(): Readonly<Record<string, string>>;
	times: McpTimes;
}

/** A list that is being asked for. */
interface Asked {
	list: Promise<McpFunction[]>;
	since: number;
}

/** With these a server refuses a session that it has forgotten: 404 by the protocol, 400 as many have it. */
const FORGOTTEN = new Set([404, 400]);

/** One MCP server as one tool reaches it: a session that is made anew when it is lost, and what the server offers. */
export class McpServer implements AsyncDisposable {
	readonly #options: McpServerOptions;
	#held: HeldSession | null = null;
	#known: { functions: McpFunction[]; until: number } | null = null;
	#asked: Asked | null = null;
	/** Why it could not be listed, and until when that is taken for granted. Here all is by the time that passes. */
	#failed: { reason: unknown; until: number } | null = null;
	#isRetired = false;
	readonly #closing = new AbortController();
	/** Grows with each word that the list is no longer what it was. */
	#changes = 0;

	constructor(options: McpServerOptions) {
		this.#options = options;
	}

	/**
	 * What the server offers, asked for now.
	 * @throws ToolFailure; AppError of the network; the signal's reason
	 */
	functions(signal: AbortSignal): Promise<McpFunction[]> {
		return unlessAborted(this.#ask().list, signal);
	}

	/**
	 * What the server offers as far as it is known, else asked for; for whoever cannot wait: gives up after a while counted
	 * from when it was first asked for, and at once where it could not be had just now.
	 * @throws ToolFailure; AppError of the network; the signal's reason
	 */
	async functionsSoon(signal: AbortSignal): Promise<McpFunction[]> {
		const { clock, times } = this.#options;
		const now = elapsedMs(clock);
		if (this.#known && now < this.#known.until) return this.#known.functions;
		if (this.#failed && now < this.#failed.until) throw this.#failed.reason;
		const late = () => new ToolFailure('timed_out', 'The MCP server takes long to list its functions.');
		const patience = times.patienceMs - (this.#asked ? now - this.#asked.since : 0);
		if (patience <= 0) throw late();
		using deadline = new CallDeadline(patience, signal, late);
		return await this.functions(deadline.signal);
	}

	/**
	 * Calls a function.
	 * @param key tells this call from all others, and a repeat of it from a new one
	 * @throws ToolFailure; AppError of the network; the signal's reason
	 */
	async call(name: string, args: Record<string, unknown>, key: string, signal: AbortSignal): Promise<CallToolResult> {
		return this.#within(signal, (session) => session.callTool(name, args, key, signal));
	}

	/** Ends the session once nothing of it is under way; a session that is still needed after that ends with its need. */
	retire(): void {
		this.#isRetired = true;
		this.#drop(this.#held);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#closing.abort(new ToolFailure('unreachable', 'This server is being stopped.'));
		await this.#held?.close();
	}

	#ask(): Asked {
		if (this.#asked) return this.#asked;
		const { clock, times } = this.#options;
		const asked: Asked = { list: this.#list(), since: elapsedMs(clock) };
		this.#asked = asked;
		asked.list.then(
			() => {
				this.#asked = null;
				this.#failed = null;
			},
			(reason: unknown) => {
				this.#asked = null;
				this.#failed = { reason, until: elapsedMs(clock) + times.respiteMs };
			},
		);
		return asked;
	}

	async #list(): Promise<McpFunction[]> {
		const { clock, times } = this.#options;
		const late = () =>
			new ToolFailure('timed_out', `The MCP server did not list its functions within ${seconds(times.openMs)}.`);
		// Its own end, not that of whoever asked first: others wait for it too.
		using deadline = new CallDeadline(times.openMs, this.#closing.signal, late);
		const { signal } = deadline;
		const before = this.#changes;
		const listed = await this.#within(signal, (session) => session.listTools(signal));
		const functions = mcpFunctionsOf(listed, this.#options);
		this.#known = { functions, until: this.#changes === before ? elapsedMs(clock) + times.listMs : 0 };
		return functions;
	}

	/** Has a session do something; in a new one where the server has forgotten the one that there was. */
	async #within<T>(signal: AbortSignal, act: (session: McpSession) => Promise<T>): Promise<T> {
		const before = this.#held;
		let current = this.#open();
		for (let isRepeat = current !== before; ; isRepeat = true) {
			try {
				return await current.use(signal, act);
			} catch (thrown) {
				const sdk = await loadSdk();
				if (isAnswered(sdk, thrown)) throw asMcpFailure(sdk, thrown);
				const isGivenUp = signal.aborted && !(signal.reason instanceof ToolFailure);
				if (!isGivenUp) this.#drop(current);
				if (signal.aborted) throw signal.reason;
				if (isRepeat || !FORGOTTEN.has(refusedWith(sdk, thrown) ?? 0)) throw asMcpFailure(sdk, thrown);
				// The server has not done what it refused to listen to: it may be asked again.
				current = this.#open();
			} finally {
				if (this.#isRetired) this.#drop(this.#held);
			}
		}
	}

	/** The session that there is, or a new one. */
	#open(): HeldSession {
		if (this.#held) return this.#held;
		const opening = this.#openSession();
		const held = new HeldSession(opening);
		this.#held = held;
		opening.catch(() => this.#drop(held));
		return held;
	}

	async #openSession(): Promise<McpSession> {
		const { network, url, headers, version, times } = this.#options;
		const late = () =>
			new ToolFailure('timed_out', `The MCP server opened no session within ${seconds(times.openMs)}.`);
		// Loading the SDK is no fault of the server.
		await loadSdk();
		using deadline = new CallDeadline(times.openMs, this.#closing.signal, late);
		const onToolsChanged = () => this.#forgetList();
		return await McpSession.open({ network, url, headers: headers(), version, onToolsChanged }, deadline.signal);
	}

	/** What a new session is offered may be something else. */
	#drop(held: HeldSession | null): void {
		if (held === null || this.#held !== held) return;
		this.#held = null;
		this.#forgetList();
		held.drop();
	}

	#forgetList(): void {
		this.#changes++;
		this.#known = null;
	}
}

function seconds(ms: number): string {
	return `${ms / 1_000} seconds`;
}
