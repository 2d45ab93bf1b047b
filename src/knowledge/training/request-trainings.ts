import type { Clock } from '../../base/index.ts';
import { decideAndCommit, expectVersion, type KnowledgeBaseRecord, type Store } from '../../store/index.ts';
import { paginate } from '../paginate.ts';
import { isReadyForTraining } from '../status.ts';
import { isTrainingDue, queueTraining } from './training-policy.ts';

/**
 * Requests the training of each knowledge base that is due for one and has no job: an earlier version had no tuned trainings,
 * or gave up those that failed. They are due at once, because a restarted server may have more memory.
 */
export async function requestTrainings(
	{ store, clock }: { store: Store; clock: Clock },
	signal: AbortSignal,
): Promise<void> {
	const all = paginate(
		(after, limit) => store.list('knowledge_bases', { where: {}, order: 'asc', after, limit }),
		(record) => record,
	);
	for await (const { id, ...record } of all) {
		signal.throwIfAborted();
		if (!needsTraining(record)) continue;
		await decideAndCommit(store, async () => {
			const current = await store.get('knowledge_bases', id);
			if (!current || !needsTraining(current)) return { commit: null, result: undefined };
			const now = clock.now();
			const set = { training_asked_at: now };
			const write =
				current.training_asked_at === null ? [{ op: 'patch', kind: 'knowledge_bases', id, set } as const] : [];
			const expect = [expectVersion('knowledge_bases', current)];
			return { commit: { expect, write, jobs: [queueTraining(id, now)] }, result: undefined };
		});
	}
}

function needsTraining(record: Omit<KnowledgeBaseRecord, 'id'>): boolean {
	return isReadyForTraining(record) && (record.training_asked_at !== null || isTrainingDue(record));
}
