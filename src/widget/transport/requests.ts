import type { WidgetConfig, WidgetMessage, WidgetMessageReply } from '../../contract/index.ts';
import { readEvents, type ServerSentEvent } from './event-stream.ts';
import { withoutControls } from './without-controls.ts';

/** The server's no, with what it says of the reason. Anything else that fails is the connection. */
export class ApiError extends Error {
	constructor(
		readonly status: number,
		/** As in the API's errors, such as `rate_limit_exceeded`. */
		readonly code: string,
		/** Seconds; 0 where nothing was said. */
		readonly retryAfter: number,
	) {
		super(code);
	}
}

/** What goes with every request of a widget. */
export interface RequestDefaults {
	base: string;
	deploymentId: string;
	/** The visitor's token, where there is one. */
	token(): string | null;
}

interface ApiRequestOptions {
	/** Present: a POST. */
	body?: object;
	/** The Idempotency-Key. */
	key?: string;
	signal?: AbortSignal | undefined;
	/** How long until the answer begins. */
	timeoutMs?: number;
}

/** A page of messages, newest first. */
export interface HistoryPage {
	data: WidgetMessage[];
	next_cursor: string | null;
}

/** What is sent; the same each time that it is sent again, or the server takes it for another one. */
export interface SendRequest {
	key: string;
	content: string;
	conversation: string | null;
}

const REQUEST_TIMEOUT_MS = 30_000;
/** A reply in one piece may take as long as a model may. */
const WHOLE_REPLY_TIMEOUT_MS = 6 * 60_000;
const SILENCE_TIMEOUT_MS = 45_000;
const PAGE_SIZE = 50;

/** The public operations of the API, as one widget calls them. */
export type Requests = ReturnType<typeof createRequests>;

export function createRequests({ base, deploymentId, token }: RequestDefaults) {
	/** How many tokens were refused since one was not. */
	let refusedTokens = 0;
	/** @throws Refusal for an error of the server; another Error where no answer came */
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
			const response = await fetch(`${base}api/v1/widget/${path}`, {
				method: body ? 'POST' : 'GET',
				headers,
				...(body ? { body: JSON.stringify(body) } : {}),
				credentials: 'omit',
				// What decides is the page's origin, whatever the page tells others of itself; its path is nobody's business.
				referrerPolicy: 'origin',
				signal: controller.signal,
			});
			const { ok, status } = response;
			if (ok) {
				refusedTokens = 0;
				return response;
			}
			const { error } = await response.json().catch(() => ({ error: {} }));
			// What was said of a token that has made way for another one since says nothing of that.
			const isStaleToken = status === 401 && jwt !== token();
			if (status === 401 && !isStaleToken) refusedTokens++;
			throw new ApiError(
				isStaleToken ? 503 : status,
				error?.code ?? '',
				Number(error?.retry_after ?? response.headers.get('Retry-After')) || 0,
			);
		} finally {
			// An answer that has begun may go on for as long as it is not silent, and until the signal aborts.
			clearTimeout(timer);
		}
	};
	const queryString = (more: Record<string, string> = {}) =>
		new URLSearchParams({ deployment_id: deploymentId, ...more }).toString();
	const conversation = (id: string) => `conversations/${encodeURIComponent(id)}`;
	const messageOf = ({ content, conversation }: SendRequest, stream: boolean) => ({
		deployment_id: deploymentId,
		...(conversation ? { conversation_id: conversation } : {}),
		content: withoutControls(content),
		stream,
	});
	const eventsOf = (response: Response): AsyncGenerator<ServerSentEvent> =>
		readEvents(response.body as ReadableStream<Uint8Array>, SILENCE_TIMEOUT_MS);

	return {
		refusedTokens_: () => refusedTokens,
		async config(): Promise<WidgetConfig> {
			return (await request(`config?${queryString()}`, {})).json();
		},
		/** Sends a message, or joins the one that was sent with this key before; its reply as it is written, or in one piece. */
		async send(message: SendRequest, stream: boolean, signal: AbortSignal): Promise<AsyncGenerator<ServerSentEvent>> {
			const timeoutMs = stream ? REQUEST_TIMEOUT_MS : WHOLE_REPLY_TIMEOUT_MS;
			const response = await request('messages', {
				body: messageOf(message, stream),
				key: message.key,
				signal,
				timeoutMs,
			});
			// A deployment whose streaming was switched off since answers in one piece too.
			return stream && response.status !== 201 ? eventsOf(response) : asEvents(await response.json());
		},
		/** Everything after a position, then what happens; without a position, from now on. */
		async follow(id: string, after: string, signal: AbortSignal): Promise<AsyncGenerator<ServerSentEvent>> {
			// In the query rather than in a header: then no preflight goes before it.
			const more: Record<string, string> = after ? { last_event_id: after } : {};
			return eventsOf(await request(`${conversation(id)}/events?${queryString(more)}`, { signal }));
		},
		/** The newest messages, or those before a cursor. */
		async history(id: string, cursor: string | null, signal?: AbortSignal): Promise<HistoryPage> {
			const more = { order: 'desc', limit: String(PAGE_SIZE), ...(cursor ? { cursor } : {}) };
			return (await request(`${conversation(id)}/messages?${queryString(more)}`, { signal })).json();
		},
		async stop(id: string): Promise<void> {
			await request(`${conversation(id)}/stop`, { body: { deployment_id: deploymentId } });
		},
		async rate(messageId: string, rating: 'up' | 'down' | null, signal: AbortSignal, comment?: string): Promise<void> {
			const body = { deployment_id: deploymentId, rating, ...(comment ? { comment: withoutControls(comment) } : {}) };
			await request(`messages/${encodeURIComponent(messageId)}/feedback`, { body, signal });
		},
	};
}

/** An answer in one piece, told as a stream would have told it. */
async function* asEvents({ user_message, ...reply }: WidgetMessageReply): AsyncGenerator<ServerSentEvent> {
	yield { id: '', event: 'message.created', data: JSON.stringify({ message: user_message }) };
	// Where a person has the conversation the answer is the question itself; theirs comes when it does.
	if (reply.id !== user_message.id) {
		yield { id: '', event: 'message.completed', data: JSON.stringify({ message: reply }) };
	}
}
