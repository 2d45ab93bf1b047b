import type { WidgetConfig, WidgetMessage, WidgetMessageReply } from '../../contract/index.ts';
import { readEvents, type StreamEvent } from './event-stream.ts';

/** The server's no, with what it says of the reason. Anything else that fails is the connection. */
export class Refusal extends Error {
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
export interface Sender {
	base: string;
	deploymentId: string;
	/** The visitor's token, where there is one. */
	token(): string | null;
}

interface Ask {
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
export interface Outgoing {
	key: string;
	content: string;
	conversation: string | null;
}

const TIMEOUT_MS = 30_000;
/** A reply in one piece may take as long as a model may. */
const WHOLE_REPLY_MS = 6 * 60_000;
const SILENCE_MS = 45_000;
const PAGE = 50;

/** The public operations of the API, as one widget calls them. */
export type Requests = ReturnType<typeof createRequests>;

export function createRequests({ base, deploymentId, token }: Sender) {
	/** How many tokens were refused since one was not. */
	let refused = 0;
	/** @throws Refusal for an error of the server; another Error where no answer came */
	const ask = async (path: string, { body, key, signal, timeoutMs = TIMEOUT_MS }: Ask): Promise<Response> => {
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
				refused = 0;
				return response;
			}
			const { error } = await response.json().catch(() => ({ error: {} }));
			// What was said of a token that has made way for another one since says nothing of that.
			const isOfBefore = status === 401 && jwt !== token();
			if (status === 401 && !isOfBefore) refused++;
			throw new Refusal(
				isOfBefore ? 503 : status,
				error?.code ?? '',
				Number(error?.retry_after ?? response.headers.get('Retry-After')) || 0,
			);
		} finally {
			// An answer that has begun may go on for as long as it is not silent, and until the signal aborts.
			clearTimeout(timer);
		}
	};
	const query = (more: Record<string, string> = {}) =>
		new URLSearchParams({ deployment_id: deploymentId, ...more }).toString();
	const conversation = (id: string) => `conversations/${encodeURIComponent(id)}`;
	const messageOf = ({ content, conversation }: Outgoing, stream: boolean) => ({
		deployment_id: deploymentId,
		...(conversation ? { conversation_id: conversation } : {}),
		content,
		stream,
	});
	const eventsOf = (response: Response): AsyncGenerator<StreamEvent> =>
		readEvents(response.body as ReadableStream<Uint8Array>, SILENCE_MS);

	return {
		refusedTokens: () => refused,
		async config(): Promise<WidgetConfig> {
			return (await ask(`config?${query()}`, {})).json();
		},
		/** Sends a message, or joins the one that was sent with this key before; its reply as it is written, or in one piece. */
		async send(message: Outgoing, stream: boolean, signal: AbortSignal): Promise<AsyncGenerator<StreamEvent>> {
			const timeoutMs = stream ? TIMEOUT_MS : WHOLE_REPLY_MS;
			const response = await ask('messages', { body: messageOf(message, stream), key: message.key, signal, timeoutMs });
			// A deployment whose streaming was switched off since answers in one piece too.
			return stream && response.status !== 201 ? eventsOf(response) : asEvents(await response.json());
		},
		/** Everything after a position, then what happens; without a position, from now on. */
		async follow(id: string, after: string, signal: AbortSignal): Promise<AsyncGenerator<StreamEvent>> {
			// In the query rather than in a header: then no preflight goes before it.
			const more: Record<string, string> = after ? { last_event_id: after } : {};
			return eventsOf(await ask(`${conversation(id)}/events?${query(more)}`, { signal }));
		},
		/** The newest messages, or those before a cursor. */
		async history(id: string, cursor: string | null, signal?: AbortSignal): Promise<HistoryPage> {
			const more = { order: 'desc', limit: String(PAGE), ...(cursor ? { cursor } : {}) };
			return (await ask(`${conversation(id)}/messages?${query(more)}`, { signal })).json();
		},
		async stop(id: string): Promise<void> {
			await ask(`${conversation(id)}/stop`, { body: { deployment_id: deploymentId } });
		},
		async rate(messageId: string, rating: 'up' | 'down' | null, signal: AbortSignal, comment?: string): Promise<void> {
			const body = { deployment_id: deploymentId, rating, ...(comment ? { comment } : {}) };
			await ask(`messages/${encodeURIComponent(messageId)}/feedback`, { body, signal });
		},
	};
}

/** An answer in one piece, told as a stream would have told it. */
async function* asEvents({ user_message, ...reply }: WidgetMessageReply): AsyncGenerator<StreamEvent> {
	yield { id: '', event: 'message.created', data: JSON.stringify({ message: user_message }) };
	// Where a person has the conversation the answer is the question itself; theirs comes when it does.
	if (reply.id !== user_message.id) {
		yield { id: '', event: 'message.completed', data: JSON.stringify({ message: reply }) };
	}
}
