import type { Clock } from '../../base/index.ts';
import { decideAndCommit, type Store } from '../../store/index.ts';
import { removalOf } from '../document-changes.ts';
import type { Documents } from '../documents.ts';

export interface RemoveSourceDependencies {
	store: Store;
	clock: Clock;
	documents: Pick<Documents, 'removeUnusedBlob'>;
}

/** Documents of one transaction. Other writes wait for it. */
const BATCH = 25;

/** Removes the documents of a source that is being deleted, then the source. */
export async function removeSource(
	deps: RemoveSourceDependencies,
	sourceId: string,
	signal?: AbortSignal,
): Promise<void> {
	const { store } = deps;
	while (await removeSomeDocuments(deps, sourceId)) signal?.throwIfAborted();
	await store.commit({
		write: [{ op: 'sources.erase', source_id: sourceId }],
		jobs: [{ op: 'complete_all', ref: sourceId }],
	});
}

/** False if there was none left. */
async function removeSomeDocuments(
	{ store, clock, documents }: RemoveSourceDependencies,
	sourceId: string,
): Promise<boolean> {
	const removed = await decideAndCommit(store, async () => {
		const where = { source_id: sourceId };
		const some = await store.list('documents', { where, order: 'asc', limit: BATCH });
		const knowledgeBase = some[0] && (await store.get('knowledge_bases', some[0].knowledge_base_id));
		if (!knowledgeBase) return { commit: null, result: [] };
		return { commit: removalOf(knowledgeBase, some, clock.now()), result: some };
	});
	for (const { blob } of removed) if (blob !== null) await documents.removeUnusedBlob(blob);
	return removed.length > 0;
}
