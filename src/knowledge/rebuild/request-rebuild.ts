import { AppError, type Clock, newId } from '../../base/index.ts';
import type { Embedders } from '../../models/index.ts';
import {
	type Commit,
	expectVersion,
	type KnowledgeBaseRecord,
	prepareChange,
	type Store,
	type UncommittedChange,
	type Write,
} from '../../store/index.ts';
import { INGEST, RECOGNISE } from '../document-changes.ts';
import { moveCounts } from '../status.ts';
import { UNTRAINED } from '../training/training-policy.ts';

/** The kind of job that builds the index of a knowledge base again. */
export const REBUILD = 'rebuild';

/** The dependencies of requests to begin and end rebuilds. */
export interface RebuildRequests {
	store: Store;
	clock: Clock;
	embedders: Embedders;
}

/**
 * Requests a rebuild: its job and its empty generation are stored in one commit. Where a rebuild exists already, no second one
 * begins. A rebuild that waits, and documents that wait, are due at once: what they wait for may be why the rebuild is requested.
 * @throws AppError `not_found`
 */
export function requestRebuild(
	{ store, clock, embedders }: RebuildRequests,
	knowledgeBaseId: string,
): UncommittedChange<KnowledgeBaseRecord> {
	return prepareChange(store, async () => {
		const record = await store.get('knowledge_bases', knowledgeBaseId);
		if (!record) throw new AppError('not_found', 'The knowledge base does not exist.');
		const makeDue = [REBUILD, INGEST, RECOGNISE].map((kind) => ({ op: 'make_due', kind, group: record.id }) as const);
		if (record.rebuilding !== null) return { commit: { jobs: makeDue }, result: record };
		const now = clock.now();
		const { set, write, jobs } =
			record.documents_total === 0 ? emptyIndex(record, now) : beginRebuild(record, embedders.configured);
		const counts = moveCounts(record, {}, now, set);
		const commit: Commit = {
			expect: [expectVersion('knowledge_bases', record)],
			write: [...write, counts.write],
			events: counts.events,
			jobs: [...jobs, ...makeDue, ...counts.jobs],
		};
		return { commit, result: counts.next };
	});
}

/**
 * Ends a rebuild that runs or waits; the result is the record. A running rebuild then finds that its generation is gone.
 * Without a rebuild nothing happens.
 * @throws AppError `not_found`
 */
export function stopRebuild(
	{ store, clock }: Pick<RebuildRequests, 'store' | 'clock'>,
	knowledgeBaseId: string,
): UncommittedChange<KnowledgeBaseRecord> {
	return prepareChange(store, async () => {
		const record = await store.get('knowledge_bases', knowledgeBaseId);
		if (!record) throw new AppError('not_found', 'The knowledge base does not exist.');
		if (record.rebuilding === null) return { commit: null, result: record };
		const { commit, result } = endRebuild(record, null, clock.now());
		commit.jobs.push({ op: 'complete_all', ref: record.id, kind: REBUILD });
		return { commit, result };
	});
}

/** The commit that begins a rebuild, or that changes the status if there is nothing to build. */
type RebuildStart = Required<Pick<Commit, 'write' | 'jobs'>> & { set: Parameters<typeof moveCounts>[3] & object };

function beginRebuild(record: KnowledgeBaseRecord, embedder: string): RebuildStart {
	const { id } = record;
	const rebuilding = newId('generation');
	return {
		set: { rebuilding, problem: null },
		write: [openGeneration(record, rebuilding, embedder)],
		jobs: [{ op: 'enqueue', job: { id: newId('job'), kind: REBUILD, ref: id, group: id, due_at: 0 } }],
	};
}

/** The write that opens an empty generation for a rebuild. */
export function openGeneration({ id }: KnowledgeBaseRecord, generation: string, embedder: string): Write {
	return { op: 'index.open_generation', generation, knowledge_base_id: id, embedder };
}

/** The commit that ends a rebuild early, without its job, and the record after it. */
export function endRebuild(
	record: KnowledgeBaseRecord,
	problem: KnowledgeBaseRecord['problem'],
	now: number,
): { commit: Commit & Required<Pick<Commit, 'jobs'>>; result: KnowledgeBaseRecord } {
	const set = { rebuilding: null, problem };
	const counts = moveCounts(record, {}, now, set);
	const drop: Write[] =
		record.rebuilding === null ? [] : [{ op: 'index.drop_generation', generation: record.rebuilding }];
	return {
		commit: {
			expect: [expectVersion('knowledge_bases', record)],
			write: [counts.write, ...drop],
			events: counts.events,
			jobs: counts.jobs,
		},
		result: counts.next,
	};
}

/** Without documents there is nothing to build: the knowledge base has no index at once. */
function emptyIndex({ generation }: KnowledgeBaseRecord, now: number): RebuildStart {
	const write: Write[] = generation === null ? [] : [{ op: 'index.drop_generation', generation }];
	return {
		set: {
			generation: null,
			embedder: null,
			reindex_reason: null,
			problem: null,
			last_indexed_at: now,
			...UNTRAINED,
		},
		write,
		jobs: [],
	};
}
