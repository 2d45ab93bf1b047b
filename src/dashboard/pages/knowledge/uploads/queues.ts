import { effect } from '@preact/signals';
import { sessionState } from '../../../app/session.ts';
import { UploadQueue } from './upload-queue.ts';

const queues = new Map<string, UploadQueue>();
/** The user whose files they are. */
let userId: string | null = null;

/** The queue of a knowledge base. It lives as long as the tab and the session. */
export function queueOf(knowledgeBaseId: string): UploadQueue {
	let queue = queues.get(knowledgeBaseId);
	if (queue === undefined) {
		queue = new UploadQueue(knowledgeBaseId);
		queues.set(knowledgeBaseId, queue);
	}
	return queue;
}

effect(() => {
	const state = sessionState.value;
	if (state.status === 'expired') {
		// The files wait for the same person to sign in again.
		for (const queue of queues.values()) queue.pause();
		return;
	}
	const next = state.status === 'signed-in' ? state.session.user.id : null;
	if (state.status === 'signed-out' || (next !== null && userId !== null && next !== userId)) {
		for (const queue of queues.values()) queue.cancelAll();
		queues.clear();
	}
	userId = next ?? userId;
});

/** The browser asks before it closes the tab while files wait. */
addEventListener('beforeunload', (event) => {
	if ([...queues.values()].some((queue) => queue.isActive)) event.preventDefault();
});
