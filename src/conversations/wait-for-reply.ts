import type { Transport } from '../actors/index.ts';
import { AppError, type PullSource, sleep } from '../base/index.ts';
import { formatPosition, type PositionedUpdate } from '../outbox/index.ts';
import type { MessageRecord, Store } from '../store/index.ts';
import { conversationErased } from './not-found.ts';
import type { RunningTurn } from './turn-result.ts';

/** How often a reply that another node writes is looked up (ms). */
const MOVED_CHECK_MS = 200;

/**
 * Waits until a reply has ended, well or not.
 * @param mayMove whether another node may take the conversation over: then the updates end here, and the reply goes on there
 * @throws AppError `not_found` where the conversation is erased meanwhile; `unavailable` where the signal aborts first
 */
export async function waitForReply(
	transport: Pick<Transport<never, never, PositionedUpdate>, 'subscribe'>,
	store: Pick<Store, 'get'>,
	{ reply, position }: RunningTurn,
	signal: AbortSignal,
	mayMove = false,
): Promise<MessageRecord> {
	const updates = transport.subscribe(reply.conversation_id, formatPosition({ seq: position, offset: 0 }));
	const isClosed = await untilTextCloses(updates, reply.id, signal).finally(() => updates.close());
	while (isClosed || !signal.aborted) {
		const stored = await store.get('messages', reply.id);
		if (!stored) throw conversationErased();
		if (isClosed || stored.status !== 'in_progress') return stored;
		if (!mayMove) break;
		await sleep(MOVED_CHECK_MS, signal);
	}
	throw new AppError('unavailable', 'The reply is still being written. Read the conversation later.', {
		retry_after: 5,
	});
}

/** Resolves at the event that closes a message's text. False: the updates have ended, or the signal has aborted, before it. */
function untilTextCloses(
	updates: PullSource<PositionedUpdate>,
	messageId: string,
	signal: AbortSignal,
): Promise<boolean> {
	let onAbort = (): void => {};
	const found = new Promise<boolean>((resolve, reject) => {
		onAbort = () => resolve(false);
		const onReadable = (): void => {
			try {
				for (let update = updates.read(); update !== null; update = updates.read()) {
					if (closesText(update, messageId)) resolve(true);
				}
				if (updates.isEnded) resolve(false);
			} catch (error) {
				reject(error);
			}
		};
		if (signal.aborted) return resolve(false);
		signal.addEventListener('abort', onAbort, { once: true });
		updates.open({ onReadable });
		onReadable();
	});
	return found.finally(() => signal.removeEventListener('abort', onAbort));
}

function closesText(update: PositionedUpdate, messageId: string): boolean {
	return update.kind === 'event' && update.event.data.message_id === messageId && update.event.data.text === 'closes';
}
