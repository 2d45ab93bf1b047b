import type { WidgetConfig, WidgetMessage, WidgetMessageReply, WidgetPeople } from '../../contract/index.ts';
import type { PersonRequest } from '../chat/person-module.ts';
import type { ChatFetch } from '../page/config.ts';
import { readEvents, type ServerSentEvent } from './event-stream.ts';
import { withoutControls } from './without-controls.ts';

/** An error response of the API. Other errors mean that the connection failed. */
export class ApiError extends Error {
	constructor(
		readonly status: number,
		/** As in the API's errors, such as `rate_limit_exceeded`. */
		readonly code: string,
		/** Seconds; 0 if the server named none. */
		readonly retryAfter: number,
	) {
		super(code);
	}
}

/** Settings of all requests of a widget. */
export interface RequestDefaults {
	base: string;
	deploymentId: string;
	/** The visitor's token, if any. */
	token(): string | null;
	/** Sends requests in place of the browser's `fetch`. */
	fetch?: ChatFetch | undefined;
}

interface ApiRequestOptions {
	/** If present, the request is a POST. */
	body?: object;
	/** The Idempotency-Key. */
	key?: string;
	signal?: AbortSignal | undefined;
	/** Time limit until the response starts. */
	timeoutMs?: number;
}

/** A page of messages, newest first. */
export interface HistoryPage {
	data: WidgetMessage[];
	next_cursor: string | null;
	people: WidgetPeople;
}

/** A message to send. Each retry sends the same values, so that the server recognises it as a repeat. */
export interface SendRequest {
	key: string;
	content: string;
	conversation: string | null;
}

const REQUEST_TIMEOUT_MS = 30_000;
/** Without streaming, a response takes as long as the model's reply. */
const WHOLE_REPLY_TIMEOUT_MS = 6 * 60_000;
const SILENCE_TIMEOUT_MS = 45_000;
const PAGE_SIZE = 50;

/** The public operations of the API, as one widget calls them. */
export type Requests = ReturnType<typeof createRequests>;

export function createRequests({ base, deploymentId, token, fetch }: RequestDefaults) {
	const { request, refusedTokens_ } = createRequester(base, token, fetch);
	const queryString = (more: Record<string, string> = {}) =>
		new URLSearchParams({ deployment_id: deploymentId, ...more }).toString();
	const conversation = (id: string) => `conversations/${encodeURIComponent(id)}`;
	const post = (path: string, body: object = {}, signal?: AbortSignal) =>
		request(path, { body: { deployment_id: deploymentId, ...body }, signal });
	const messageOf = ({ content, conversation }: SendRequest, stream: boolean) => ({
		deployment_id: deploymentId,
		conversation_id: conversation || undefined,
		content,
		stream,
	});
	const eventsOf = (response: Response): AsyncGenerator<ServerSentEvent> =>
		readEvents(response.body as ReadableStream<Uint8Array>, SILENCE_TIMEOUT_MS);

	return {
		refusedTokens_,
		async config(): Promise<WidgetConfig> {
			return (await request(`config?${queryString()}`, {})).json();
		},
		/** Sends a message, or joins the running reply if the key was used before. Returns the reply's events. */
		async send(message: SendRequest, stream: boolean, signal: AbortSignal): Promise<AsyncGenerator<ServerSentEvent>> {
			const timeoutMs = stream ? REQUEST_TIMEOUT_MS : WHOLE_REPLY_TIMEOUT_MS;
			const response = await request('messages', {
				body: messageOf(message, stream),
				// The same message in another conversation is another request; `null` stands for a new one.
				key: message.key + message.conversation,
				signal,
				timeoutMs,
			});
			// If the deployment's streaming was switched off meanwhile, the response is not a stream.
			return stream && response.status !== 201 ? eventsOf(response) : asEvents(await response.json());
		},
		/** The events after a position, then live events. Without a position, live events only. */
		async follow(id: string, after: string, signal: AbortSignal): Promise<AsyncGenerator<ServerSentEvent>> {
			// In the query and not in a header, which would need a preflight request.
			const more: Record<string, string> = after ? { last_event_id: after } : {};
			return eventsOf(await request(`${conversation(id)}/events?${queryString(more)}`, { signal }));
		},
		/** The newest messages, or those before a cursor. */
		async history(id: string, cursor: string | null, signal?: AbortSignal): Promise<HistoryPage> {
			const more = { order: 'desc', limit: String(PAGE_SIZE), ...(cursor ? { cursor } : {}) };
			return (await request(`${conversation(id)}/messages?${queryString(more)}`, { signal })).json();
		},
		async stop(id: string): Promise<void> {
			await post(`${conversation(id)}/stop`);
		},
		/** Asks for a person, leaves an e-mail address, or withdraws the request. Returns the conversation's people, as in the event `presence`. */
		async requestPerson_(id: string, change: PersonRequest, signal: AbortSignal): Promise<string> {
			return (await post(`${conversation(id)}/request-person`, change, signal)).text();
		},
		async rate(messageId: string, rating: 'up' | 'down' | null, signal: AbortSignal, comment?: string): Promise<void> {
			const body = { rating, ...(comment ? { comment: withoutControls(comment) } : {}) };
			await post(`messages/${encodeURIComponent(messageId)}/feedback`, body, signal);
		},
	};
}

/** Makes requests with the visitor's token, and counts the refused ones. */
function createRequester(base: string, token: RequestDefaults['token'], send: ChatFetch = fetch) {
	/** Number of refused tokens since the last accepted one. */
	let refusedTokens = 0;
	/** @throws ApiError for an error response; another Error if no response came */
	const request = async (
		path: string,
		{ body, key, signal, timeoutMs = REQUEST_TIMEOUT_MS }: ApiRequestOptions,
	): Promise<Response> => {
		const controller = new AbortController();
		const abort = () => controller.abort();
		const timer = setTimeout(abort, timeoutMs);
		if (signal?.aborted) abort();
		signal?.addEventListener('abort', abort);
		const headers: Record<string, string> = {};
		const jwt = token();
		if (jwt) headers.Authorization = `Bearer ${jwt}`;
		if (key) headers['Idempotency-Key'] = key;
		if (body) headers['Content-Type'] = 'application/json';
		try {
			const response = await send(`${base}api/v1/widget/${path}`, {
				method: body ? 'POST' : 'GET',
				headers,
				...(body ? { body: JSON.stringify(body) } : {}),
				credentials: 'omit',
				// The server checks the page's origin, so it is sent whatever the page's referrer policy is. The path stays private.
				referrerPolicy: 'origin',
				signal: controller.signal,
			});
			const { ok, status } = response;
			if (ok) {
				refusedTokens = 0;
				return response;
			}
			const { error } = await response.json().catch(() => ({ error: {} }));
			// A refusal of a token that was replaced meanwhile says nothing about the new token.
			const isStaleToken = status === 401 && jwt !== token();
			if (status === 401 && !isStaleToken) refusedTokens++;
			throw new ApiError(
				isStaleToken ? 503 : status,
				error?.code ?? '',
				Number(error?.retry_after ?? response.headers.get('Retry-After')) || 0,
			);
		} finally {
			// A started response may continue until the signal aborts. readEvents limits its silence.
			clearTimeout(timer);
		}
	};
	return { request, refusedTokens_: () => refusedTokens };
}

/** Converts a response without streaming into the events of a stream. */
async function* asEvents({ user_message, ...reply }: WidgetMessageReply): AsyncGenerator<ServerSentEvent> {
	yield { id: '', event: 'message.created', data: JSON.stringify({ message: user_message }) };
	// During a takeover the response is the visitor's own message. The person's reply comes later.
	if (reply.id !== user_message.id) {
		yield { id: '', event: 'message.completed', data: JSON.stringify({ message: reply }) };
	}
}
