import type { Clock } from '../../base/index.ts';
import { type Commit, decideAndCommit, type Store } from '../../store/index.ts';
import { type Documents, removalOf } from '../documents.ts';

export interface RemoveSourceDependencies {
	store: Store;
	clock: Clock;
	documents: Pick<Documents, 'removeUnusedBlob'>;
}

/** Documents that are read at once. */
const BATCH = 100;

/**
 * Removes the documents of a source that is being deleted, then the source. Each document is a transaction of its own, so that
 * other writes need not wait for all of them.
 */
export async function removeSource(
	deps: RemoveSourceDependencies,
	sourceId: string,
	signal?: AbortSignal,
): Promise<void> {
	const { store } = deps;
	for (;;) {
		const documents = await store.list('documents', { where: { source_id: sourceId }, order: 'asc', limit: BATCH });
		if (documents.length === 0) break;
		for (const { id } of documents) {
			signal?.throwIfAborted();
			await removeDocument(deps, id);
		}
	}
	await store.commit({
		write: [{ op: 'sources.erase', source_id: sourceId }],
		jobs: [{ op: 'complete_all', ref: sourceId }],
	});
}

async function removeDocument(
	{ store, clock, documents }: RemoveSourceDependencies,
	documentId: string,
): Promise<void> {
	const blob = await decideAndCommit(store, async () => {
		const document = await store.get('documents', documentId);
		const knowledgeBase = document && (await store.get('knowledge_bases', document.knowledge_base_id));
		if (!document || !knowledgeBase) return { commit: null, result: null };
		const commit: Commit = removalOf(knowledgeBase, document, clock.now());
		return { commit, result: document.blob };
	});
	if (blob !== null) await documents.removeUnusedBlob(blob);
}
