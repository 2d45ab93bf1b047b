import { AppError } from '../base/index.ts';
import type { Store, Write } from '../store/index.ts';

/** Rows of a kind that one commit removes: others that wait for the disk do not wait for long. */
const BATCH_SIZE = 500;

/** The write that removes a conversation and the beginning of what is in it. */
export function eraseWrite(id: string): Write {
	return { op: 'erase_conversation', id, limit: BATCH_SIZE };
}

/**
 * Removes what remains of an erased conversation, portion by portion. Where it breaks off, a job in the store says so: whoever
 * takes that up goes on.
 * @throws AppError `unavailable`
 */
export async function eraseRemainingRows(store: Pick<Store, 'commit' | 'conversations'>, id: string): Promise<void> {
	while (await store.conversations.hasUnerasedRows(id)) {
		const { outcome } = await store.commit({ write: [eraseWrite(id)] });
		if (outcome !== 'committed') throw new AppError('unavailable', `The change was refused (${outcome}).`);
	}
}
