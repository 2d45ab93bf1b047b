import { backoff } from '../transport/backoff.ts';
import type { PendingMessage } from '../transport/conversation-storage.ts';
import { ApiError } from '../transport/requests.ts';
import { sleep } from '../transport/sleep.ts';
import type { DeliveryParts } from './delivery-options.ts';
import { acknowledge, showFailedReply } from './failed-reply.ts';
import { discardStopped } from './stop-reply.ts';

/** Attempts while the server is busy or unreachable. After them the visitor decides. */
const MAX_ATTEMPTS = 8;

/** The end of a delivery, with whether the message got out; or the milliseconds to wait before the next attempt. */
type Outcome = boolean | number;

/**
 * Sends a message until it is answered or refused. All attempts in a conversation have the same Idempotency-Key, so the server stores it
 * once.
 * @returns false if it did not get out
 */
export async function sendWithRetries(
	parts: DeliveryParts,
	pending: PendingMessage,
	signal: AbortSignal,
): Promise<boolean> {
	const { conversation, notices, queue, state, update } = parts;
	const { transcript } = conversation;
	for (let attempt = 0; ; ) {
		const outcome = await sendOnce(parts, pending, signal);
		if (typeof outcome === 'boolean') return outcome;
		// An attempt without a network does not count.
		if (navigator.onLine) attempt++;
		if (attempt >= MAX_ATTEMPTS) {
			notices.show('trouble');
			queue.markUnsent_();
			return false;
		}
		notices.disconnected_();
		if (state.isStopRequested_) {
			discardStopped(parts);
			return false;
		}
		state.isStuck_ = true;
		transcript.change(pending.key, { status: 'waiting' });
		update();
		await sleep(Math.max(outcome, backoff(attempt)), signal);
		if (signal.aborted) return true;
		state.isStuck_ = false;
		transcript.change(pending.key, { status: 'sending' });
		update();
	}
}

async function sendOnce(parts: DeliveryParts, pending: PendingMessage, signal: AbortSignal): Promise<Outcome> {
	const { requests, conversation, notices, streaming, onEvent, load } = parts;
	/** The server has confirmed the message. */
	let isKnown = false;
	try {
		if (!conversation.isLoaded_() && pending.conversation) await load(pending.conversation, signal).catch(() => {});
		const answer = await requests.send(pending, streaming, signal);
		notices.connected_();
		for await (const event of answer) {
			isKnown ||= acknowledge(parts, pending, event);
			onEvent(event);
		}
		// If the stream ended early, the conversation's stream has the rest.
		return true;
	} catch (error) {
		if (signal.aborted) return true;
		if (error instanceof ApiError) return handleApiError(parts, pending, error, signal);
		// A stored message has its reply in progress. The conversation's stream has it, so no retry is needed.
		return isKnown ? true : 0;
	}
}

async function handleApiError(
	parts: DeliveryParts,
	pending: PendingMessage,
	error: ApiError,
	signal: AbortSignal,
): Promise<Outcome> {
	const { conversation, errorHandler, state } = parts;
	if (error.status === 404 && pending.conversation && (await errorHandler.isConversationGone_())) {
		conversation.forget();
		pending.conversation = null;
		return sendOnce(parts, pending, signal);
	}
	if (error.code === 'model_error') {
		await showFailedReply(parts, pending, signal);
		return true;
	}
	if (error.status === 401) state.waitingForToken_ = pending;
	const isOver = !(await errorHandler.isTemporary_(error));
	// The page may have passed a new token at once.
	if (signal.aborted) return true;
	if (!isOver) return error.retryAfter * 1000;
	errorHandler.showError_(error);
	return false;
}
