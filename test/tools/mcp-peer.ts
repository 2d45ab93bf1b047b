import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
	CallToolRequestSchema,
	type CallToolResult,
	ListToolsRequestSchema,
	type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { httpServer } from '../net/servers.ts';

/** A function of the peer. */
export interface PeerFunction extends Omit<Tool, 'inputSchema' | 'name'> {
	inputSchema?: Tool['inputSchema'];
	/** @param cancelled aborts when the client cancels the call */
	call?(args: Record<string, unknown>, cancelled: AbortSignal): Promise<CallToolResult> | CallToolResult;
}

/** What the peer was sent. */
export interface PeerRequest {
	http: string;
	/** The method of JSON-RPC; undefined where there is none. */
	method: string | undefined;
	headers: IncomingMessage['headers'];
}

/** Answers a request in the place of the MCP project's server; false: does not. */
type RequestOverride = (request: PeerRequest, response: ServerResponse, message: { id?: number }) => boolean;

/** An MCP server, the MCP project's own, over streamable HTTP with sessions. */
export interface McpPeer extends AsyncDisposable {
	url: string;
	/** May be changed at any time; clients learn of it where they ask, or where they are told. */
	functions: Record<string, PeerFunction>;
	/** All there was, in order. */
	requests: PeerRequest[];
	/** Requests of one method of JSON-RPC so far. */
	count(method: string): number;
	/** Sessions that are open. */
	sessions(): number;
	/** Forgets all sessions, as a restarted server does. */
	forgetSessions(): void;
	/** Tells all clients that the functions have changed. */
	notifyToolsChanged(): Promise<void>;
	override: RequestOverride;
	/** Whether each session has a stream for notifications. */
	isListening(): boolean;
}

export interface PeerOptions {
	/** Answers in JSON instead of in streams. */
	json?: boolean;
	/** The status for sessions that are not known. */
	unknownSession?: number;
}

interface Session {
	server: Server;
	transport: StreamableHTTPServerTransport;
	/** The stream for notifications. */
	stream: ServerResponse | null;
}

/** Answers with a text. */
export const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

export async function mcpPeer(functions: Record<string, PeerFunction>, options: PeerOptions = {}): Promise<McpPeer> {
	const sessions = new Map<string, Session>();
	const requests: PeerRequest[] = [];

	const serverOf = () => {
		const server = new Server({ name: 'peer', version: '1' }, { capabilities: { tools: { listChanged: true } } });
		server.setRequestHandler(ListToolsRequestSchema, () => ({
			tools: Object.entries(peer.functions).map(([name, { call: _call, ...rest }]) => ({
				name,
				inputSchema: { type: 'object' as const },
				...rest,
			})),
		}));
		server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
			const called = peer.functions[params.name];
			if (!called?.call) throw new Error(`there is no ${params.name}`);
			return called.call(params.arguments ?? {}, signal);
		});
		return server;
	};

	const sessionFor = async (id: string | undefined, method: string | undefined): Promise<Session | undefined> => {
		if (id !== undefined) return sessions.get(id);
		if (method !== 'initialize') return undefined;
		const transport = new StreamableHTTPServerTransport({
			sessionIdGenerator: randomUUID,
			enableJsonResponse: options.json ?? false,
			onsessioninitialized: (made) => void sessions.set(made, session),
			onsessionclosed: (ended) => void sessions.delete(ended),
		});
		const session: Session = { server: serverOf(), transport, stream: null };
		await session.server.connect(transport as Parameters<Server['connect']>[0]);
		return session;
	};

	const listener = async (request: IncomingMessage, response: ServerResponse) => {
		let text = '';
		for await (const chunk of request.setEncoding('utf8')) text += chunk;
		const message = text === '' ? undefined : JSON.parse(text);
		const seen = { http: request.method ?? '', method: message?.method, headers: request.headers };
		requests.push(seen);
		if (peer.override(seen, response, message ?? {})) return;
		const session = await sessionFor(request.headers['mcp-session-id'] as string | undefined, seen.method);
		if (!session) {
			response.writeHead(options.unknownSession ?? 404).end('Session not found');
			return;
		}
		if (seen.http === 'GET') session.stream = response;
		await session.transport.handleRequest(request, response, message);
	};

	const http = await httpServer((request, response) => {
		listener(request, response).catch((error) => response.writeHead(500).end(String(error)));
	});
	const peer: McpPeer = {
		url: `${http.origin}/mcp`,
		functions,
		requests,
		count: (method) => requests.filter((request) => request.method === method).length,
		sessions: () => sessions.size,
		forgetSessions: () => sessions.clear(),
		async notifyToolsChanged() {
			await Promise.all([...sessions.values()].map(({ server }) => server.sendToolListChanged()));
		},
		override: () => false,
		isListening: () => sessions.size > 0 && [...sessions.values()].every(({ stream }) => stream?.headersSent),
		[Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
	};
	return peer;
}
