import { backoff } from '../transport/backoff.ts';
import type { PendingMessage, QueuedMessage } from '../transport/conversation-storage.ts';
import type { ServerSentEvent } from '../transport/event-stream.ts';
import { ApiError, type Requests } from '../transport/requests.ts';
import { sleep } from '../transport/sleep.ts';
import type { Announcement } from './announcement.ts';
import type { ApiErrorHandler, ApiErrorHandlerOptions } from './api-error-handler.ts';
import { createMessageQueue } from './message-queue.ts';
import type { Notices } from './notices.ts';
import type { DisplayedMessage } from './transcript.ts';
import type { Conversation } from './visitor-conversation.ts';

/** Tries of a message that the server is too busy for, or that finds no server; then it waits for the visitor. */
const MAX_ATTEMPTS = 8;
/** A message that was on its way when its page went is sent by the next page, if that comes soon. */
const RESUME_WINDOW_MS = 10 * 60_000;
/** Behind the key of a message that is stored, for the reply to it that failed: neither has an id that we were told. */
const FAILED_REPLY_SUFFIX = '!';

export interface DeliveryOptions {
	requests: Requests;
	conversation: Conversation;
	notices: Notices;
	errorHandler: ApiErrorHandler;
	emit: ApiErrorHandlerOptions['emit'];
	streaming: boolean;
	onEvent(event: ServerSentEvent): void;
	/** Something happened that those who cannot see it must hear. */
	announce(what: Announcement): void;
	load(conversation: string, signal?: AbortSignal): Promise<void>;
	/** Whether a message is on its way has changed, or what is shown. */
	update(): void;
}

/** Sends what the visitor writes, one message after the other: each until it is answered, and never twice. */
export type Delivery = ReturnType<typeof createDelivery>;

export function createDelivery(options: DeliveryOptions) {
	const { requests, conversation, notices, errorHandler, emit, streaming, onEvent, announce, load, update } = options;
	const { transcript, retryable } = conversation;
	let current: AbortController | null = null;
	/** A message cannot get out, and waits for its next try. */
	let isStuck = false;
	let isStopRequested = false;
	/** What a fresh token will send. */
	let waitingForToken: PendingMessage | null = null;

	const isBusy = () => current !== null || transcript.isWriting_();
	const queue = createMessageQueue({
		conversation,
		mayDeliver: () => !isBusy() && !notices.isBlocking_() && !notices.is('limited'),
		deliver: (pending) => void deliver(pending),
		load,
		update,
	});

	/** Sends a message until it is answered, or must not be. Always under the same key: the server makes one of it. */
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
					// Written anew for a message that is stored: it stands as it stood.
					const reply = pending.message && replyTo(pending.message);
					if (reply) transcript.change(reply.id, { status: 'failed' });
				}
				update();
				queue.drain();
			}
		}
	}

	async function sendWithRetries(pending: PendingMessage, signal: AbortSignal): Promise<boolean> {
		/** The server has told of it, on this delivery. */
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
				// Whatever a stream that ended early did not tell, the conversation's own stream will.
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
					// The page may have brought a fresh token at once.
					if (signal.aborted) return true;
					if (isOver) {
						errorHandler.showError_(error);
						return false;
					}
					wait = error.retryAfter * 1000;
				} else if (isKnown) {
					// The message is stored, and its reply is being written: nothing need be sent again to see it.
					return true;
				}
			}
			// Without a network it was not even tried.
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

	/** Whether the server tells of the message that was sent: it is stored. */
	function acknowledge(pending: PendingMessage, { event, data }: ServerSentEvent): boolean {
		if (event !== 'message.created') return false;
		const { message } = JSON.parse(data);
		if (message.role !== 'user') return false;
		transcript.remove(pending.key + FAILED_REPLY_SUFFIX);
		if (conversation.store(pending, message.id, message.conversation_id)) emit('message', { message });
		return true;
	}

	/** The model failed to answer in one piece; the message is stored, though we are not told under which id. */
	async function handleModelFailure(pending: PendingMessage, signal: AbortSignal): Promise<void> {
		const { key, content, message } = pending;
		const before = transcript.list().map(({ id }) => id);
		const wasTold =
			pending.conversation !== null &&
			(await load(pending.conversation, signal).then(
				() => true,
				() => false,
			));
		if (signal.aborted) return;
		const isOurs = (one: DisplayedMessage) =>
			one.role === 'user' && one.content === content && !before.includes(one.id);
		const stored = transcript.list().find(isOurs);
		const reply = message ? replyTo(message) : undefined;
		if (stored) conversation.store(pending, stored.id, pending.conversation as string);
		else if (!message) transcript.fail(key, key + FAILED_REPLY_SUFFIX);
		else if (reply) transcript.change(reply.id, { status: 'failed' });
		if (!wasTold) announce({ stringKey: 'failed' });
	}

	function replyTo(id: string): DisplayedMessage | undefined {
		const list = transcript.list();
		const next = list[list.findIndex((message) => message.id === id) + 1];
		return next?.role === 'assistant' ? next : undefined;
	}

	/** What was stopped on its way is not sent later: not by the next page either. */
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
		// Told as it is written, it can be stopped once there is something of it: before, there would be nothing to stop.
		if (id === null || (streaming && current && pending?.message === '')) {
			isStopRequested = true;
			return;
		}
		isStopRequested = false;
		await requests.stop(id).catch(errorHandler.handle);
	}

	function send(text: string): void {
		const content = text.trim();
		if (content) queue.add(content);
		queue.drain();
		update();
	}

	return {
		busy: isBusy,
		drain: queue.drain,
		stop,
		/** Whether a message is on its way, or its reply is told in answer to it. */
		isInFlight_: () => current !== null,
		/** Whether something is to be sent, or a reply to come. */
		isExpecting_: () => isBusy() || !queue.isEmpty(),
		/** Whether nothing more may wait. */
		isFull: queue.isFull,

		/** Sends what the visitor wrote, when its turn comes. */
		send,

		/**
		 * Takes back a message that waits.
		 * @returns what it said, if it is sure not to have been sent
		 */
		cancel(id: string): string {
			const text = queue.cancel(id);
			if (text === undefined && conversation.pending()?.key === id) void stop();
			return text ?? '';
		},

		/** Takes up the messages that were on their way, or waited, when the page before this one went. */
		resume(): void {
			const isFresh = ({ at }: { at: number }) => Date.now() - at < RESUME_WINDOW_MS;
			// Whether it is still meant, the visitor knows.
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

		/** Sends a message again that was not sent, or has a reply written anew that failed. */
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

		/** A reply has ended, or has something to be stopped: what was wanted of it meanwhile is done now. */
		afterEvent_(hasEnded: boolean): void {
			if (hasEnded) {
				isStopRequested = false;
				queue.drain();
			} else if (isStopRequested && transcript.isWriting_()) void stop();
		},

		/** What the visitor wrote that is nowhere but here, and is on no way to the server. */
		unsentTexts_: (): string[] =>
			transcript
				.list()
				.filter(({ id, status }) => status === 'unsent' || queue.has(id))
				.map(({ content }) => content),

		/** Ends what goes on, and forgets what waits. */
		reset(): void {
			current?.abort();
			current = waitingForToken = null;
			isStopRequested = false;
			queue.clear();
		},

		/** There is a fresh token: sends what was turned away without one. Whether there was any. */
		resendIdentified_(): boolean {
			const again = waitingForToken;
			waitingForToken = null;
			if (again) void deliver(again);
			return again !== null;
		},
	};
}
