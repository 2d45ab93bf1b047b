import { decideAndCommit, expectVersion, type KnowledgeBaseRecord, type Store } from '../store/index.ts';
import { inPages } from './pages.ts';

/**
 * Marks the knowledge bases whose vectors are of another embedder than the server's, and takes the mark from those whose are
 * not any more. A document without vectors calls for a reindex all the same.
 * @param configured the id of the server's embedder
 */
export async function markForReindex(store: Store, configured: string): Promise<void> {
	const all = inPages(
		(after, limit) => store.list('knowledge_bases', { where: {}, order: 'asc', after, limit }),
		(record) => record,
	);
	for await (const { id, ...record } of all) {
		if (reasonOf(record, configured) === record.reindex_reason) continue;
		await decideAndCommit(store, async () => {
			const now = await store.get('knowledge_bases', id);
			if (!now) return { commit: null, result: undefined };
			const set = { reindex_reason: reasonOf(now, configured) };
			const write = { op: 'patch', kind: 'knowledge_bases', id, set } as const;
			return { commit: { expect: [expectVersion('knowledge_bases', now)], write: [write] }, result: undefined };
		});
	}
}

function reasonOf(
	{ embedder, reindex_reason }: Pick<KnowledgeBaseRecord, 'embedder' | 'reindex_reason'>,
	configured: string,
): KnowledgeBaseRecord['reindex_reason'] {
	if (reindex_reason === 'vectors') return reindex_reason;
	if (embedder !== null && embedder !== configured) return 'embedder';
	// Which model answers to the name is seen when it is asked next.
	return embedder !== null && reindex_reason === 'model' ? reindex_reason : null;
}
