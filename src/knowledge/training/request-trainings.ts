import type { Clock } from '../../base/index.ts';
import { decideAndCommit, expectVersion, type KnowledgeBaseRecord, type Store } from '../../store/index.ts';
import { paginate } from '../paginate.ts';
import { isReadyForTraining } from '../status.ts';
import { isTrainingDue, queueTraining } from './training-policy.ts';

/** Requests the training of each knowledge base that is due for one: those of an earlier version never had a tuned training. */
export async function requestTrainings({ store, clock }: { store: Store; clock: Clock }): Promise<void> {
	const all = paginate(
		(after, limit) => store.list('knowledge_bases', { where: {}, order: 'asc', after, limit }),
		(record) => record,
	);
	for await (const { id, ...record } of all) {
		if (!isUnrequested(record)) continue;
		await decideAndCommit(store, async () => {
			const current = await store.get('knowledge_bases', id);
			if (!current || !isUnrequested(current)) return { commit: null, result: undefined };
			const set = { training_asked_at: clock.now() };
			const write = [{ op: 'patch', kind: 'knowledge_bases', id, set } as const];
			const expect = [expectVersion('knowledge_bases', current)];
			return { commit: { expect, write, jobs: queueTraining(id) }, result: undefined };
		});
	}
}

function isUnrequested(record: Omit<KnowledgeBaseRecord, 'id'>): boolean {
	return record.training_asked_at === null && isReadyForTraining(record) && isTrainingDue(record);
}
