import type { DeliveryParts } from './delivery-options.ts';

/** A message that was stopped before it was sent is not sent later, nor by the next page. */
export function discardStopped({ conversation, state }: DeliveryParts): void {
	state.isStopRequested_ = false;
	conversation.setPending_(null);
}

/** Stops the reply, or the message that waits for its next attempt. */
export async function stopReply(parts: DeliveryParts): Promise<void> {
	const { requests, conversation, notices, errorHandler, streaming, queue, state, update } = parts;
	const id = conversation.id();
	const pending = conversation.pending();
	if (state.current_ && state.isStuck_ && pending) {
		state.current_.abort();
		state.current_ = null;
		discardStopped(parts);
		conversation.transcript.change(pending.key, { status: 'unsent' });
		notices.dismiss('reconnecting');
		update();
		return queue.drain();
	}
	// With streaming, the stop waits until the server has the message: before that there is nothing to stop.
	if (id === null || (streaming && state.current_ && pending?.message === '')) {
		state.isStopRequested_ = true;
		return;
	}
	state.isStopRequested_ = false;
	await requests.stop(id).catch(errorHandler.handle);
}
