import { decideAndCommit, expectVersion, type KnowledgeBaseRecord, type Store } from '../store/index.ts';
import { paginate } from './paginate.ts';

/**
 * Marks the knowledge bases whose vectors come from another embedder than the server's, and removes the mark from all
 * others. The mark stays if a document has no vectors.
 * @param configured the id of the server's embedder
 */
export async function markForReindex(store: Store, configured: string): Promise<void> {
	const all = paginate(
		(after, limit) => store.list('knowledge_bases', { where: {}, order: 'asc', after, limit }),
		(record) => record,
	);
	for await (const { id, ...record } of all) {
		if (reindexReasonOf(record, configured) === record.reindex_reason) continue;
		await decideAndCommit(store, async () => {
			const current = await store.get('knowledge_bases', id);
			if (!current) return { commit: null, result: undefined };
			const set = { reindex_reason: reindexReasonOf(current, configured) };
			const write = { op: 'patch', kind: 'knowledge_bases', id, set } as const;
			return { commit: { expect: [expectVersion('knowledge_bases', current)], write: [write] }, result: undefined };
		});
	}
}

function reindexReasonOf(
	{ embedder, reindex_reason }: Pick<KnowledgeBaseRecord, 'embedder' | 'reindex_reason'>,
	configured: string,
): KnowledgeBaseRecord['reindex_reason'] {
	if (reindex_reason === 'vectors') return reindex_reason;
	if (embedder !== null && embedder !== configured) return 'embedder';
	// The next call checks which model answers under the name.
	return embedder !== null && reindex_reason === 'model' ? reindex_reason : null;
}
