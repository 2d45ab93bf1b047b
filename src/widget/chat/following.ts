import { backoff } from '../transport/backoff.ts';
import type { StreamEvent } from '../transport/event-stream.ts';
import { pause } from '../transport/pause.ts';
import { Refusal, type Requests } from '../transport/requests.ts';
import type { Conversation } from './conversation.ts';
import type { Judge, JudgeOptions } from './judge.ts';
import type { Notices } from './notices.ts';

/** With streaming off nothing is pushed: the list is read again. */
const POLL_WRITING_MS = 2_000;
const POLL_MS = 8_000;
/** A stream that lasted so long was a good one. */
const LASTED_MS = 5_000;

export interface FollowingOptions {
	requests: Requests;
	conversation: Conversation;
	notices: Notices;
	judge: Judge;
	emit: JudgeOptions['emit'];
	streaming: boolean;
	hear(event: StreamEvent): void;
	load(conversation: string, signal: AbortSignal): Promise<void>;
	/** Whether it follows has changed. */
	changed(): void;
}

/** Follows a conversation from where it was left, however often the connection breaks. */
export type Following = ReturnType<typeof createFollowing>;

export function createFollowing(options: FollowingOptions) {
	const { requests, conversation, notices, judge, emit, streaming, hear, load, changed } = options;
	let current: AbortController | null = null;

	const follow = async (signal: AbortSignal) => {
		for (let attempt = 0; !signal.aborted; attempt++) {
			let wait = 0;
			const since = Date.now();
			try {
				const id = conversation.id();
				if (id === null) return;
				if (!streaming) {
					await load(id, signal);
					attempt = -1;
					notices.connected();
					await pause(conversation.transcript.isWriting() ? POLL_WRITING_MS : POLL_MS, signal);
					continue;
				}
				const events = await requests.follow(id, conversation.reached(), signal);
				// Only now: what happens from here on the stream tells.
				if (!conversation.isLoaded()) await load(id, signal);
				notices.connected();
				for await (const event of events) {
					attempt = 0;
					hear(event);
				}
			} catch (error) {
				if (signal.aborted) return;
				if (error instanceof Refusal) {
					if (!(await judge.isTemporary(error))) {
						emit('error', { status: error.status, code: error.code });
						return;
					}
					wait = error.retryAfter * 1000;
				}
			}
			if (Date.now() - since > LASTED_MS) attempt = 0;
			if (!signal.aborted && (attempt > 0 || conversation.transcript.isWriting() || !conversation.isLoaded())) {
				notices.disconnected();
			}
			await pause(Math.max(wait, backoff(attempt)), signal);
		}
	};
	const stop = () => {
		current?.abort();
		current = null;
	};

	return {
		stop,
		/** Begins to follow, or stops, where it did not before. */
		want(isWanted: boolean): void {
			if (!isWanted) stop();
			if (!isWanted || current) return;
			const controller = new AbortController();
			current = controller;
			void follow(controller.signal).finally(() => {
				if (current !== controller) return;
				current = null;
				changed();
			});
		},
	};
}
