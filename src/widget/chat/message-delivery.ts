import { backoff } from '../transport/backoff.ts';
import type { PendingMessage, QueuedMessage } from '../transport/conversation-storage.ts';
import type { ServerSentEvent } from '../transport/event-stream.ts';
import { ApiError, type Requests } from '../transport/requests.ts';
import { sleep } from '../transport/sleep.ts';
import { withoutControls } from '../transport/without-controls.ts';
import type { Announcement } from './announcement.ts';
import type { ApiErrorHandler, ApiErrorHandlerOptions } from './api-error-handler.ts';
import { createMessageQueue } from './message-queue.ts';
import type { Notices } from './notices.ts';
import type { DisplayedMessage } from './transcript.ts';
import type { Conversation } from './visitor-conversation.ts';

/** Attempts while the server is busy or unreachable. After them the visitor decides. */
const MAX_ATTEMPTS = 8;
/** The next page sends an interrupted message by itself within this time. */
const RESUME_WINDOW_MS = 10 * 60_000;
/** Makes the local id of a failed reply from the key of its message: the server has sent neither id. */
const FAILED_REPLY_SUFFIX = '!';

export interface DeliveryOptions {
	requests: Requests;
	conversation: Conversation;
	notices: Notices;
	errorHandler: ApiErrorHandler;
	emit: ApiErrorHandlerOptions['emit'];
	streaming: boolean;
	onEvent(event: ServerSentEvent): void;
	/** Announces something to screen readers. */
	announce(what: Announcement): void;
	load(conversation: string, signal?: AbortSignal): Promise<void>;
	/** The delivery's state or something visible has changed. */
	update(): void;
}

/** Sends the visitor's messages one after the other: each until it is answered, and never twice. */
export type Delivery = ReturnType<typeof createDelivery>;

export function createDelivery(options: DeliveryOptions) {
	const { requests, conversation, notices, errorHandler, emit, streaming, onEvent, announce, load, update } = options;
	const { transcript, retryable } = conversation;
	let current: AbortController | null = null;
	/** The message waits for its next attempt. */
	let isStuck = false;
	let isStopRequested = false;
	/** The message that is sent again with the next token. */
	let waitingForToken: PendingMessage | null = null;

	const isBusy = () => current !== null || transcript.isWriting_();
	const queue = createMessageQueue({
		conversation,
		mayDeliver: () => !isBusy() && !notices.isBlocking_() && !notices.is('limited'),
		deliver: (pending) => void deliver(pending),
		load,
		update,
	});

	/** Sends a message until it is answered or refused. All attempts have the same Idempotency-Key, so the server stores it once. */
	async function deliver(pending: PendingMessage): Promise<void> {
		const controller = new AbortController();
		current?.abort();
		current = controller;
		isStuck = isStopRequested = false;
		retryable.set(pending.key, pending);
		if (!pending.message) transcript.send(pending);
		notices.dismiss('trouble', 'limited');
		update();
		let isSent = true;
		try {
			isSent = await sendWithRetries(pending, controller.signal);
		} finally {
			if (current === controller) {
				current = null;
				isStopRequested = false;
				if (!isSent) {
					transcript.change(pending.key, { status: 'unsent' });
					transcript.remove(pending.key + FAILED_REPLY_SUFFIX);
					// The retry of a failed reply did not get out: the reply is shown as failed again.
					const reply = pending.message && replyTo(pending.message);
					if (reply) transcript.change(reply.id, { status: 'failed' });
				}
				update();
				queue.drain();
			}
		}
	}

	async function sendWithRetries(pending: PendingMessage, signal: AbortSignal): Promise<boolean> {
		/** The server has confirmed the message during this delivery. */
		let isKnown = false;
		for (let attempt = 0; ; ) {
			let wait = 0;
			try {
				if (!conversation.isLoaded_() && pending.conversation) await load(pending.conversation, signal).catch(() => {});
				const answer = await requests.send(pending, streaming, signal);
				notices.connected_();
				for await (const event of answer) {
					isKnown ||= acknowledge(pending, event);
					onEvent(event);
				}
				// If the stream ended early, the conversation's stream has the rest.
				return true;
			} catch (error) {
				if (signal.aborted) return true;
				if (error instanceof ApiError) {
					if (error.status === 404 && pending.conversation && (await errorHandler.isConversationGone_())) {
						conversation.forget();
						pending.conversation = null;
						continue;
					}
					if (error.code === 'model_error') {
						await handleModelFailure(pending, signal);
						return true;
					}
					if (error.status === 401) waitingForToken = pending;
					const isOver = error.status === 429 || !(await errorHandler.isTemporary_(error));
					// The page may have passed a new token at once.
					if (signal.aborted) return true;
					if (isOver) {
						errorHandler.showError_(error);
						return false;
					}
					wait = error.retryAfter * 1000;
				} else if (isKnown) {
					// The message is stored and its reply is in progress. The conversation's stream has it, so no retry is needed.
					return true;
				}
			}
			// An attempt without a network does not count.
			if (navigator.onLine) attempt++;
			if (attempt >= MAX_ATTEMPTS) {
				notices.show('trouble');
				queue.markUnsent_();
				return false;
			}
			notices.disconnected_();
			if (isStopRequested) {
				discardStopped();
				return false;
			}
			isStuck = true;
			transcript.change(pending.key, { status: 'waiting' });
			update();
			await sleep(Math.max(wait, backoff(attempt)), signal);
			if (signal.aborted) return true;
			isStuck = false;
			transcript.change(pending.key, { status: 'sending' });
			update();
		}
	}

	/** Whether the event confirms that the sent message is stored. */
	function acknowledge(pending: PendingMessage, { event, data }: ServerSentEvent): boolean {
		if (event !== 'message.created') return false;
		const { message } = JSON.parse(data);
		if (message.role !== 'user') return false;
		transcript.remove(pending.key + FAILED_REPLY_SUFFIX);
		if (conversation.store(pending, message.id, message.conversation_id)) emit('message', { message });
		return true;
	}

	/** The model failed in a request without streaming. The message is stored, but the response has no id. */
	async function handleModelFailure(pending: PendingMessage, signal: AbortSignal): Promise<void> {
		const { key, content, message } = pending;
		const before = transcript.list().map(({ id }) => id);
		const isLoaded =
			pending.conversation !== null &&
			(await load(pending.conversation, signal).then(
				() => true,
				() => false,
			));
		if (signal.aborted) return;
		const isSentMessage = (one: DisplayedMessage) =>
			one.role === 'user' && one.content === content && !before.includes(one.id);
		const stored = transcript.list().find(isSentMessage);
		const reply = message ? replyTo(message) : undefined;
		if (stored) conversation.store(pending, stored.id, pending.conversation as string);
		else if (!message) transcript.fail(key, key + FAILED_REPLY_SUFFIX);
		else if (reply) transcript.change(reply.id, { status: 'failed' });
		if (!isLoaded) announce({ stringKey: 'failed' });
	}

	function replyTo(id: string): DisplayedMessage | undefined {
		const list = transcript.list();
		const next = list[list.findIndex((message) => message.id === id) + 1];
		return next?.role === 'assistant' ? next : undefined;
	}

	/** A message that was stopped before it was sent is not sent later, nor by the next page. */
	function discardStopped(): void {
		isStopRequested = false;
		conversation.setPending_(null);
	}

	async function stop(): Promise<void> {
		const id = conversation.id();
		const pending = conversation.pending();
		if (current && isStuck && pending) {
			current.abort();
			current = null;
			discardStopped();
			transcript.change(pending.key, { status: 'unsent' });
			notices.dismiss('reconnecting');
			update();
			return queue.drain();
		}
		// With streaming, the stop waits until the server has the message: before that there is nothing to stop.
		if (id === null || (streaming && current && pending?.message === '')) {
			isStopRequested = true;
			return;
		}
		isStopRequested = false;
		await requests.stop(id).catch(errorHandler.handle);
	}

	function send(text: string): void {
		const content = withoutControls(text).trim();
		if (content) queue.add(content);
		queue.drain();
		update();
	}

	return {
		isBusy,
		drain: queue.drain,
		stop,
		/** Whether a request with a message is open. Its response may be the reply's stream. */
		isInFlight_: () => current !== null,
		/** Whether messages are queued or a reply is expected. */
		isExpecting_: () => isBusy() || !queue.isEmpty(),
		/** Whether the queue is full. */
		isFull: queue.isFull,

		/** Queues a message and sends it when possible. */
		send,

		/**
		 * Cancels a waiting message.
		 * @returns its text if it was certainly not sent
		 */
		cancel(id: string): string {
			const text = queue.cancel(id);
			if (text === undefined && conversation.pending()?.key === id) void stop();
			return text ?? '';
		},

		/** Continues with the messages that were pending or queued when the previous page was left. */
		resume(): void {
			const isFresh = ({ at }: { at: number }) => Date.now() - at < RESUME_WINDOW_MS;
			// An old message is shown as unsent, so that the visitor decides.
			const ask = (message: QueuedMessage) => {
				transcript.send(message);
				transcript.change(message.key, { status: 'unsent' });
			};
			const pending = conversation.pending();
			if (pending) retryable.set(pending.message || pending.key, pending);
			if (pending && !pending.message) {
				if (isFresh(pending)) void deliver(pending);
				else ask(pending);
			}
			for (const next of conversation.queued()) {
				if (isFresh(next)) queue.enqueue(next);
				else ask(next);
			}
			queue.drain();
			update();
		},

		/** Sends an unsent message again, or asks again for a reply that failed. */
		retry(id: string): void {
			const list = transcript.list();
			const at = list.findIndex((message) => message.id === id);
			const question = list
				.slice(0, at + 1)
				.reverse()
				.find(({ role }) => role === 'user');
			if (!question || isBusy() || notices.isBlocking_()) return;
			const pending = retryable.get(question.id);
			if (question.id === id) {
				const { content } = question;
				const again = pending ?? { key: id, content, conversation: conversation.id(), message: '', at: Date.now() };
				if (!conversation.dequeue(again)) conversation.setPending_(again);
				void deliver(again);
			} else if (pending) {
				conversation.setPending_(pending);
				transcript.change(id, { content: '', status: 'in_progress' });
				void deliver(pending);
			} else send(question.content);
		},

		/** Handles a requested stop and the queue after an event: when a reply ends, or when there is a reply to stop. */
		afterEvent_(hasEnded: boolean): void {
			if (hasEnded) {
				isStopRequested = false;
				queue.drain();
			} else if (isStopRequested && transcript.isWriting_()) void stop();
		},

		/** Texts of messages that are not sent and not on their way. */
		unsentTexts_: (): string[] =>
			transcript
				.list()
				.filter(({ id, status }) => status === 'unsent' || queue.has(id))
				.map(({ content }) => content),

		/** Aborts the current delivery and empties the queue. */
		reset(): void {
			current?.abort();
			current = waitingForToken = null;
			isStopRequested = false;
			queue.clear();
		},

		/** Sends the message again that was refused without a valid token. @returns whether there was one */
		resendIdentified_(): boolean {
			const again = waitingForToken;
			waitingForToken = null;
			if (again) void deliver(again);
			return again !== null;
		},
	};
}
