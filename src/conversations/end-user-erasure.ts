import { AppError } from '../base/index.ts';
import type { EndUser } from '../contract/index.ts';
import type { Store } from '../store/index.ts';

/** Seconds after which a visitor may try again. */
const RETRY_AFTER = 5;

/**
 * Refuses a message of an end user whose data is being erased, so that the erasure ends.
 * @throws AppError `unavailable`
 */
export async function requireNotBeingErased(
	store: Pick<Store, 'list'>,
	workspace_id: string,
	endUser: EndUser | null,
): Promise<void> {
	if (endUser === null) return;
	const where = { workspace_id, end_user_id: endUser.id };
	const [running] = await store.list('erasures', { where, order: 'asc', limit: 1 });
	if (!running) return;
	throw new AppError('unavailable', 'What is stored about you is being erased. Try again in a moment.', {
		retry_after: RETRY_AFTER,
	});
}
