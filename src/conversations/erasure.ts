import { requireCommitted, type Store, type Write } from '../store/index.ts';

/** Rows of a kind that one commit removes: other commits do not wait long for the disk. */
const BATCH_SIZE = 500;

/** The write that removes a conversation and the first batch of its rows. */
export function eraseWrite(id: string): Write {
	return { op: 'erase_conversation', id, limit: BATCH_SIZE };
}

/**
 * Removes the remaining rows of an erased conversation in batches. If it is interrupted, a job in the store remains, and the
 * retention continues from it.
 * @throws AppError `unavailable`
 */
export async function eraseRemainingRows(store: Pick<Store, 'commit' | 'conversations'>, id: string): Promise<void> {
	while (await store.conversations.hasUnerasedRows(id)) {
		requireCommitted(await store.commit({ write: [eraseWrite(id)] }));
	}
}
