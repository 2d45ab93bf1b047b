import type { Caller } from '../../src/access/index.ts';
import { type Call, SelfIdempotentHandler } from '../../src/api/call.ts';
import { conversationHandlers } from '../../src/api/conversations.ts';
import { Cursors } from '../../src/api/cursors.ts';
import { canonicalPathOf, createIdempotentCall, fingerprintOf } from '../../src/api/idempotent-call.ts';
import { messageHandlers } from '../../src/api/messages.ts';
import { AppError, newId, OtherNodeError, type PullSource } from '../../src/base/index.ts';
import { type Operation, operations } from '../../src/contract/index.ts';
import type { ConversationEvent } from '../../src/conversations/index.ts';
import type { Deployments } from '../../src/deployments/index.ts';
import { errorResponse, type HttpRequest } from '../../src/http/index.ts';
import type { SimulatedServer } from './simulated-server.ts';

/** The operations that the clients of a simulation call. */
export type OperationName =
	| 'sendMessage'
	| 'stopReply'
	| 'followConversation'
	| 'takeOverConversation'
	| 'releaseConversation'
	| 'sayInConversation'
	| 'updateConversation'
	| 'deleteConversation';

/** A request of a client. */
export interface SimulatedRequest {
	operation: OperationName;
	params?: Record<string, string>;
	query?: Record<string, unknown>;
	body?: Record<string, unknown>;
	headers?: Record<string, string>;
	signal: AbortSignal;
}

export interface SimulatedResponse {
	status: number;
	/** Of a response in JSON. */
	body: Record<string, unknown> | null;
	/** The version in the ETag; null where the resource has none. */
	version: number | null;
	/** Of an event stream. */
	events: PullSource<ConversationEvent> | null;
	/** The process that has answered. */
	server: SimulatedServer;
	/** Another node serves the conversation. Nothing was done. */
	isElsewhere: boolean;
}

export const CALLER: Caller = {
	workspaceId: 'ws_simulated',
	credentialId: 'key_agent',
	name: 'Agent',
	scopes: ['*'],
	expiresAt: null,
	userSession: null,
};

const cursors = new Cursors(Buffer.alloc(32, 1));

/** Calls the real handler of an operation as the pipeline does, after access and validation. */
export async function callApi(server: SimulatedServer, request: SimulatedRequest): Promise<SimulatedResponse> {
	const operation: Operation = operations[request.operation];
	const http = httpRequestOf(operation, request);
	const conversationId = request.params?.id ?? request.body?.conversation_id;
	if (conversationId !== undefined && server.isElsewhere(String(conversationId))) return responseElsewhere(server);
	try {
		const scope = `${CALLER.workspaceId} ${operation.method} ${canonicalPathOf(operation, http)}`;
		const { responses, ...idempotent } = createIdempotentCall(operation, scope, http, server);
		const { params = {}, query = {}, body } = request;
		const call = { params, query, body, caller: CALLER, request: http, ifMatchVersions: null, ...idempotent } as never;
		const handler = handlersOf(server)[request.operation] as SelfIdempotentHandler<Operation> | HandleCall;
		const result =
			handler instanceof SelfIdempotentHandler
				? await handler.handle(call)
				: await idempotent.runIdempotently(
						() => fingerprintOf(body),
						() => handler(call),
					);
		return responseOf(server, responses.toResponse(result));
	} catch (error) {
		if (error instanceof OtherNodeError) return responseElsewhere(server);
		if (!(error instanceof AppError)) throw error;
		return responseOf(server, errorResponse(error, http.id, server.log));
	}
}

type HandleCall = (call: Call<Operation>) => Promise<never>;

function handlersOf({ store, conversations }: SimulatedServer) {
	const visible = async (id: string) => {
		const record = await store.get('deployments', id);
		if (!record) throw new AppError('not_found');
		return { record };
	};
	const deployments = { visible } as unknown as Deployments;
	return {
		...messageHandlers({ conversations, deployments }),
		...conversationHandlers({ store, conversations, cursors }),
	};
}

function httpRequestOf(operation: Operation, { params = {}, headers = {}, signal }: SimulatedRequest): HttpRequest {
	const request: Partial<HttpRequest> = {
		id: newId('request'),
		method: operation.method,
		path: operation.path,
		params,
		query: new URLSearchParams(),
		signal,
		header: (name) => headers[name],
		addLogFields: () => {},
		continueTrace: () => {},
		suppressSpan: () => {},
	};
	return request as HttpRequest;
}

function responseOf(server: SimulatedServer, response: object): SimulatedResponse {
	const {
		status = 200,
		body,
		events,
		headers = [],
	} = response as {
		status?: number;
		body?: string;
		events?: PullSource<ConversationEvent>;
		headers?: ReadonlyArray<readonly [string, string]>;
	};
	const etag = headers.find(([name]) => name === 'etag')?.[1];
	const version = etag === undefined ? null : Number(/\d+/.exec(etag)?.[0]);
	const parsed = body === undefined ? null : JSON.parse(String(body));
	return { status, body: parsed, version, events: events ?? null, server, isElsewhere: false };
}

function responseElsewhere(server: SimulatedServer): SimulatedResponse {
	const body = { error: { code: 'unavailable' } };
	return { status: 503, body, version: null, events: null, server, isElsewhere: true };
}
