import { AppError, shortageOf } from '../../base/index.ts';
import { isRecoverable } from '../../models/index.ts';
import { type Commit, type DocumentRecord, expectVersion, type KnowledgeBaseRecord } from '../../store/index.ts';
import { countsOf, moveCounts, removeFromIndex } from '../status.ts';

/** The reason of a document's status `error`, in a sentence that a person can act on. */
export type FailureReason = NonNullable<DocumentRecord['error']>;

/** Attempts before a temporary failure becomes final. */
const MAX_ATTEMPTS = 3;

/**
 * The reason of a final failure; null while a temporary failure has attempts left. Failures of a model provider and shortages
 * of the system are retried without end, because the document is not their cause.
 * @param failures the number of failures, this one included
 */
export function finalReason(error: unknown, failures: number): FailureReason | null {
	if (isRecoverable(error) || shortageOf(error)) return null;
	const isPermanent = error instanceof AppError && error.code !== 'unavailable';
	if (isPermanent) return { code: error.code, message: error.message };
	if (failures < MAX_ATTEMPTS) return null;
	const message = error instanceof AppError ? error.message : 'The document could not be processed.';
	return { code: 'internal_error', message };
}

/** The reason that clients see while a retry waits. Errors that are not meant for clients become the fallback. */
export function publicReason(error: unknown, fallback: string): FailureReason {
	return error instanceof AppError
		? { code: error.code, message: error.message }
		: { code: 'internal_error', message: fallback };
}

/** The commit with which a document ends in `error`, and in no generation of the index. */
export function failDocument(
	knowledgeBase: KnowledgeBaseRecord,
	document: DocumentRecord,
	error: FailureReason,
	now: number,
): Required<Pick<Commit, 'expect' | 'write' | 'events' | 'jobs'>> {
	const { pending, failed } = countsOf(document);
	const change = { pending: -pending, failed: 1 - failed, chunks: document.chunk_count };
	const counts = moveCounts(knowledgeBase, change, now);
	const title = document.title || document.file_name || document.url || 'Untitled';
	const set = { title: title.slice(0, 500), status: 'error' as const, error, chunk_count: 0, updated_at: now };
	return {
		expect: [expectVersion('knowledge_bases', knowledgeBase), expectVersion('documents', document)],
		write: [
			{ op: 'patch', kind: 'documents', id: document.id, set },
			counts.write,
			...removeFromIndex(knowledgeBase, document.id),
		],
		events: counts.events,
		jobs: counts.jobs,
	};
}
