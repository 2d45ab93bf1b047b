import { backoff } from '../transport/backoff.ts';
import { ApiError } from '../transport/requests.ts';
import { sleep } from '../transport/sleep.ts';
import type { ConversationConnection } from './conversation-connection.ts';

/** Without streaming the list of messages is polled. */
const POLL_WHILE_WRITING_MS = 2_000;
const POLL_MS = 8_000;
/** A stream that lasted longer resets the retry delay. */
const STABLE_STREAM_MS = 5_000;

export interface StreamFollowerOptions extends ConversationConnection {
	load(conversation: string, signal: AbortSignal): Promise<void>;
	/** The follower has started or ended. */
	onChanged(): void;
}

/** Follows a conversation from its last position and reconnects when the connection breaks. */
export type StreamFollower = ReturnType<typeof createStreamFollower>;

export function createStreamFollower(options: StreamFollowerOptions) {
	let current: AbortController | null = null;
	const stop = () => {
		current?.abort();
		current = null;
	};

	return {
		stop,
		/** Starts or stops following. Repeated calls change nothing. */
		setWanted_(isWanted: boolean): void {
			if (!isWanted) stop();
			if (!isWanted || current) return;
			const controller = new AbortController();
			current = controller;
			void follow(options, controller.signal).finally(() => {
				if (current !== controller) return;
				current = null;
				options.onChanged();
			});
		},
	};
}

/** Follows until the signal aborts or an error shows that a retry cannot help. */
async function follow(options: StreamFollowerOptions, signal: AbortSignal): Promise<void> {
	const { requests, conversation, notices, errorHandler, emit, streaming, onEvent, load } = options;
	for (let attempt = 0; !signal.aborted; attempt++) {
		let wait = 0;
		let wasOpen = false;
		const since = Date.now();
		try {
			const id = conversation.id();
			if (id === null) return;
			if (!streaming) {
				await load(id, signal);
				attempt = -1;
				notices.connected_();
				await sleep(conversation.transcript.isWriting_() ? POLL_WHILE_WRITING_MS : POLL_MS, signal);
				continue;
			}
			const events = await requests.follow(id, conversation.position_(), signal);
			wasOpen = true;
			// Loaded after the stream is open, so that no event is missed between the two.
			if (!conversation.isLoaded_()) await load(id, signal);
			notices.connected_();
			for await (const event of events) {
				attempt = 0;
				onEvent(event);
			}
		} catch (error) {
			if (signal.aborted) return;
			if (error instanceof ApiError) {
				if (error.status !== 429 && !(await errorHandler.isTemporary_(error))) {
					emit('error', { status: error.status, code: error.code });
					return;
				}
				wait = error.retryAfter * 1000;
			}
		}
		if (Date.now() - since > STABLE_STREAM_MS) attempt = 0;
		// A stream that has broken is opened again at another node, or after a restart, without a word if the first attempt succeeds.
		const isWaitedFor = (conversation.transcript.isWriting_() && !wasOpen) || !conversation.isLoaded_();
		if (!signal.aborted && (attempt > 0 || isWaitedFor)) {
			notices.disconnected_();
		}
		await sleep(Math.max(wait, backoff(attempt)), signal);
	}
}
