import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import { deferred, rejectOnAbort, sleep } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import { ToolFailure } from '../tool-failure.ts';
import type { ToolCallContext } from '../tool-function.ts';
import { loadSdk, type McpSdk } from './sdk.ts';
import { runInRequest, SessionFetch } from './session-fetch.ts';

/** Limits of a list of tools. */
const MAX_PAGES = 10;
const MAX_TOOLS = 500;
/** Milliseconds for closing a session at the server. */
const CLOSE_TIMEOUT_MS = 1_000;

export interface McpSessionOptions {
	network: Pick<Network, 'fetch'>;
	url: string;
	/** With secrets. */
	headers: Readonly<Record<string, string>>;
	/** The version of this program, for servers. */
	version: string;
	/** Called when the server reports that its list of tools has changed. */
	onToolsChanged(): void;
}

/** A session with an MCP server over streamable HTTP, by the MCP project's client. */
export class McpSession {
	readonly #sdk: McpSdk;
	readonly #client: Client;
	readonly #transport: StreamableHTTPClientTransport;

	private constructor(sdk: McpSdk, client: Client, transport: StreamableHTTPClientTransport) {
		this.#sdk = sdk;
		this.#client = client;
		this.#transport = transport;
	}

	/**
	 * Opens a session: the protocol's handshake.
	 * @throws what the SDK or the network throws; the signal's reason
	 */
	static async open(options: McpSessionOptions, signal: AbortSignal): Promise<McpSession> {
		const { url, headers, network, version, onToolsChanged } = options;
		const sdk = await loadSdk();
		signal.throwIfAborted();
		const client = new sdk.Client(
			{ name: 'parley', version },
			// The client would compile the schemas of results, which are not needed here.
			{ capabilities: {}, jsonSchemaValidator: { getValidator: () => acceptAny } },
		);
		client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, onToolsChanged);
		const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
			fetch: new SessionFetch(network).fetch,
			requestInit: { headers: { 'user-agent': 'Parley', ...lowerCaseNames(headers) } },
		});
		try {
			// The transport's types do not match its interface where undefined differs from an absent property.
			await rejectOnAbort(
				runInRequest(null, () => client.connect(transport as Parameters<Client['connect']>[0])),
				signal,
			);
		} catch (thrown) {
			await client.close();
			throw thrown;
		}
		return new McpSession(sdk, client, transport);
	}

	/** All tools in the server's list; none where it does not support tools. */
	async listTools(signal: AbortSignal): Promise<ListedTool[]> {
		if (!this.#client.getServerCapabilities()?.tools) return [];
		const tools: ListedTool[] = [];
		let cursor: string | undefined;
		for (let page = 0; page < MAX_PAGES; page++) {
			const params = cursor === undefined ? {} : { cursor };
			const { ListToolsResultSchema } = this.#sdk;
			const result = await this.#request(
				(options) => this.#client.request({ method: 'tools/list', params }, ListToolsResultSchema, options),
				signal,
			);
			tools.push(...result.tools);
			cursor = result.nextCursor;
			if (cursor === undefined || tools.length >= MAX_TOOLS) break;
		}
		return tools.slice(0, MAX_TOOLS);
	}

	/**
	 * Calls a tool. If the signal aborts, the server gets `notifications/cancelled`.
	 * @param context in `_meta`, because the protocol has no field for a key, and its requests share a connection
	 */
	callTool(
		name: string,
		args: Record<string, unknown>,
		{ key, traceHeaders }: ToolCallContext,
		signal: AbortSignal,
	): Promise<CallToolResult> {
		const params = { name, arguments: args, _meta: { ...traceHeaders, 'idempotency-key': key } };
		const { CallToolResultSchema } = this.#sdk;
		return this.#request(
			(options) => this.#client.request({ method: 'tools/call', params }, CallToolResultSchema, options),
			signal,
		);
	}

	/** Closes the session at once, and tries to close it at the server. Never rejects. */
	async close(): Promise<void> {
		const terminated = runInRequest(null, () => this.#transport.terminateSession());
		await Promise.race([terminated.catch(() => {}), sleep(CLOSE_TIMEOUT_MS)]);
		await this.#client.close().catch(() => {});
	}

	/**
	 * Sends a request and waits for its response, for the signal, or for the end of its stream. Then its connection is closed.
	 */
	async #request<T>(send: (options: RequestOptions) => Promise<T>, signal: AbortSignal): Promise<T> {
		signal.throwIfAborted();
		const exchangesEnd = new AbortController();
		const cancellation = new AbortController();
		const connectionLoss = deferred<never>();
		connectionLoss.promise.catch(() => {});
		let isAnswered = false;
		let isResumable = false;
		const request = {
			signal: exchangesEnd.signal,
			onStreamEnd(reason: unknown) {
				if (reason instanceof ToolFailure) return connectionLoss.reject(reason);
				// Messages from before the end of the stream reach the client in microtasks: they come first.
				setImmediate(() => isResumable || connectionLoss.reject(connectionLost(reason)));
			},
		};
		try {
			const result = runInRequest(request, () =>
				send({
					signal: cancellation.signal,
					// The stream has ids by which the transport resumes it.
					onresumptiontoken() {
						isResumable = true;
					},
				}).finally(() => {
					isAnswered = true;
				}),
			);
			return await rejectOnAbort(Promise.race([result, connectionLoss.promise]), signal);
		} catch (thrown) {
			// The request has its response: aborting now would make the client send a cancellation.
			if (!isAnswered) runInRequest(null, () => cancellation.abort('The caller has given up.'));
			throw thrown;
		} finally {
			exchangesEnd.abort();
		}
	}
}

interface RequestOptions {
	signal: AbortSignal;
	onresumptiontoken(token: string): void;
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
	return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function connectionLost(cause: unknown): ToolFailure {
	return new ToolFailure('unreachable', 'The MCP server ended its answer before it was complete.', { cause });
}

function acceptAny(data: unknown): { valid: true; data: never; errorMessage: undefined } {
	return { valid: true, data: data as never, errorMessage: undefined };
}
