import { AppError, shortageOf } from '../../base/index.ts';
import { isRecoverable } from '../../models/index.ts';
import { type Commit, type DocumentRecord, expectVersion, type KnowledgeBaseRecord } from '../../store/index.ts';
import { countsOf, moveCounts, removeFromIndex } from '../status.ts';

/** Why a document is in `error`, in a sentence that a person can act on. */
export type FailureReason = NonNullable<DocumentRecord['error']>;

/** A failure that may pass is tried so often. */
const MAX_ATTEMPTS = 3;

/**
 * What to tell of a failure; null for one that may pass, while there are attempts left. That of a model provider has no end of
 * them: an outage, or a key that was rotated, is none of the document's faults. Nor is a shortage of the system.
 * @param failures how often it has failed by now
 */
export function finalReason(error: unknown, failures: number): FailureReason | null {
	if (isRecoverable(error) || shortageOf(error)) return null;
	const isPermanent = error instanceof AppError && error.code !== 'unavailable';
	if (isPermanent) return { code: error.code, message: error.message };
	if (failures < MAX_ATTEMPTS) return null;
	const message = error instanceof AppError ? error.message : 'The document could not be processed.';
	return { code: 'internal_error', message };
}

/** What is told of a failure while it is waited for its end; what is not meant for people is not told. */
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
): Required<Pick<Commit, 'expect' | 'write' | 'events'>> {
	const { pending, failed } = countsOf(document);
	const counts = moveCounts(knowledgeBase, { pending: -pending, failed: 1 - failed }, now);
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
	};
}
