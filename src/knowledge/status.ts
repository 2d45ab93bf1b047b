import { newId, timestamp, timestampOrNull } from '../base/index.ts';
import type { IndexingStatus, KnowledgeBase } from '../contract/index.ts';
import { BUILTIN_EMBEDDER } from '../models/index.ts';
import {
	type Commit,
	type DocumentRecord,
	expectVersion,
	type JobWrite,
	type KnowledgeBaseRecord,
	type NewEvent,
	type Store,
	type Write,
} from '../store/index.ts';
import { searchSettingsOf } from './search-settings.ts';
import { isTrainingDue, queueTrainingAfterChange, TRAIN } from './training/training-policy.ts';

/** The change of the counts of a knowledge base's documents. */
export interface CountChange {
	total?: number;
	pending?: number;
	failed?: number;
	/** Chunks that were added, removed or replaced. */
	chunks?: number;
}

/** `indexing` precedes `error`: the result is unknown while documents or a rebuild are in progress. */
export function statusOf(record: Omit<KnowledgeBaseRecord, 'id'>): KnowledgeBase['status'] {
	if (record.documents_pending > 0 || record.rebuilding !== null) return 'indexing';
	return record.documents_failed > 0 ? 'error' : 'ready';
}

/** Whether the serving index has a document, also one whose old version serves while it is processed again. */
function isSearchable(record: Omit<KnowledgeBaseRecord, 'id'>): boolean {
	return record.generation !== null && record.documents_total > record.documents_failed;
}

/**
 * The time at which the serving basis was trained; null unless it covers the documents. New chunks are folded in, so it still
 * covers a knowledge base that has grown too little for another training.
 */
function trainedAt(record: KnowledgeBaseRecord): number | null {
	const isCovered = statusOf(record) !== 'indexing' && isSearchable(record) && record.training_asked_at === null;
	return isCovered ? record.trained_at : null;
}

/** A knowledge base as the API shows it. */
export function presentKnowledgeBase(record: KnowledgeBaseRecord): KnowledgeBase {
	return {
		id: record.id,
		name: record.name,
		description: record.description,
		search_settings: searchSettingsOf(record),
		status: statusOf(record),
		document_count: record.documents_total,
		documents_failed: record.documents_failed,
		searchable: isSearchable(record),
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
	};
}

/** The indexing status of a knowledge base, with the progress of its reindex. */
export async function readStatus(
	store: { searchIndex: Pick<Store['searchIndex'], 'documentCount'> },
	record: KnowledgeBaseRecord,
): Promise<IndexingStatus> {
	const { rebuilding } = record;
	return presentStatus(record, rebuilding === null ? 0 : await store.searchIndex.documentCount(rebuilding));
}

/**
 * The indexing status of a knowledge base as the API shows it.
 * @param rebuilt the documents that the generation under construction has
 */
export function presentStatus(record: KnowledgeBaseRecord, rebuilt = 0): IndexingStatus {
	return {
		status: statusOf(record),
		documents_total: record.documents_total,
		documents_indexed: record.documents_total - record.documents_pending - record.documents_failed,
		documents_failed: record.documents_failed,
		searchable: isSearchable(record),
		last_indexed_at: timestampOrNull(record.last_indexed_at),
		trained_at: timestampOrNull(trainedAt(record)),
		embedder: record.embedder,
		// False while a rebuild runs, and if there is nothing to index.
		reindex_required: record.reindex_reason !== null && record.rebuilding === null && record.documents_total > 0,
		reindex:
			record.rebuilding === null
				? null
				: { documents_done: rebuilt, documents_total: Math.max(rebuilt, record.documents_total) },
		problem: record.problem && { code: record.problem.code, message: record.problem.message },
	};
}

/** Whether a training would cover all documents: the queue is empty, and the vectors are the built-in embedder's. */
export function isReadyForTraining(record: Omit<KnowledgeBaseRecord, 'id'>): boolean {
	return statusOf(record) !== 'indexing' && isSearchable(record) && record.embedder === BUILTIN_EMBEDDER;
}

/**
 * The part of a commit that changes a knowledge base's counts, with its event: `knowledge_base.indexed` at each change to
 * ready, and with the job of a training if one is due and the queue of documents is empty. The commit must expect the
 * record's version.
 */
export function moveCounts(
	record: KnowledgeBaseRecord,
	change: CountChange,
	now: number,
	set: Partial<
		Pick<
			KnowledgeBaseRecord,
			| 'generation'
			| 'rebuilding'
			| 'embedder'
			| 'reindex_reason'
			| 'problem'
			| 'last_indexed_at'
			| 'trained_at'
			| 'training_asked_at'
			| 'tuned_on'
			| 'changed_chunks'
			| 'tuned_weight'
			| 'training_failures'
		>
	> = {},
): { write: Write; events: NewEvent[]; jobs: JobWrite[]; next: KnowledgeBaseRecord } {
	const counts = {
		documents_total: record.documents_total + (change.total ?? 0),
		documents_pending: record.documents_pending + (change.pending ?? 0),
		documents_failed: record.documents_failed + (change.failed ?? 0),
		changed_chunks: record.changed_chunks + (change.chunks ?? 0),
	};
	const next: KnowledgeBaseRecord = { ...record, ...counts, ...set, updated_at: now, version: record.version + 1 };
	const needsTraining = isReadyForTraining(next) && (next.training_asked_at !== null || isTrainingDue(next));
	// A request that exists keeps its time: a running training answers it.
	if (needsTraining) next.training_asked_at ??= now;
	// The cause of earlier failures ends with the index or the documents, and so does their delay.
	const isReplaced = set.generation !== undefined && set.generation !== record.generation;
	const endsTrainings = isReplaced || next.documents_total === 0;
	const ended: JobWrite[] = endsTrainings ? [{ op: 'complete_all', ref: record.id, kind: TRAIN }] : [];
	if (next.documents_total === 0) Object.assign(next, { training_asked_at: null, training_failures: 0 });
	// If nothing is in progress, nothing waits. Documents do not end the failure of trainings.
	const isOver = next.problem === null || (set.problem === undefined && statusOf(next) !== 'indexing');
	const isTrainingFailing = record.problem?.task === 'training' && !endsTrainings && next.training_asked_at !== null;
	if (isOver) next.problem = isTrainingFailing ? record.problem : null;
	// Also after `error`: the failed documents were removed, and no event had reported that the others are indexed.
	const becameReady = statusOf(record) !== 'ready' && statusOf(next) === 'ready';
	return {
		write: {
			op: 'patch',
			kind: 'knowledge_bases',
			id: record.id,
			set: {
				...counts,
				...set,
				problem: next.problem,
				training_asked_at: next.training_asked_at,
				training_failures: next.training_failures,
				updated_at: now,
			},
		},
		jobs: needsTraining ? [...ended, queueTrainingAfterChange(next, now)] : ended,
		next,
		events: becameReady
			? [
					{
						id: newId('event'),
						stream: record.workspace_id,
						type: 'knowledge_base.indexed',
						data: { ...presentKnowledgeBase(next), ...presentStatus(next) },
						created_at: now,
					},
				]
			: [],
	};
}

/** The part of a commit that sets or clears the reason why indexing waits; empty if the record has it already. */
export function problemCommit(
	record: KnowledgeBaseRecord,
	problem: KnowledgeBaseRecord['problem'],
): Required<Pick<Commit, 'expect' | 'write'>> {
	const { id } = record;
	if (record.problem?.code === problem?.code && record.problem?.message === problem?.message) {
		return { expect: [], write: [] };
	}
	return {
		expect: [expectVersion('knowledge_bases', record)],
		write: [{ op: 'patch', kind: 'knowledge_bases', id, set: { problem } }],
	};
}

/** Whether a document is queued or being processed. */
export function isPending({ status }: Pick<DocumentRecord, 'status'>): boolean {
	return status === 'queued' || status === 'processing';
}

/** The change of the counts when a document is removed or restarted. */
export function countsOf(document: Pick<DocumentRecord, 'status'>): { pending: number; failed: number } {
	return { pending: isPending(document) ? 1 : 0, failed: document.status === 'error' ? 1 : 0 };
}

/** The writes that remove a document from the serving generation and from the generation under construction. */
export function removeFromIndex({ generation, rebuilding }: KnowledgeBaseRecord, document_id: string): Write[] {
	return [generation, rebuilding].flatMap((one) =>
		one === null ? [] : [{ op: 'index.remove_document', generation: one, document_id } as const],
	);
}
