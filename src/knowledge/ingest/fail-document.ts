import { AppError } from '../../base/index.ts';
import { mayPass } from '../../models/index.ts';
import { type Commit, type DocumentRecord, type KnowledgeBaseRecord, versionOf } from '../../store/index.ts';
import { recount, removeFromIndex, shareOf } from '../status.ts';

/** Why a document is in `error`, in a sentence that a person can act on. */
export type Reason = NonNullable<DocumentRecord['error']>;

/** A failure that may pass is tried so often. */
export const ATTEMPTS = 3;
/** That of a model provider so often: with delays that double from five seconds, for ten minutes. */
export const MODEL_ATTEMPTS = 8;

/**
 * What to tell of a failure; null for one that may pass, while there are attempts left.
 * @param failures how often it has failed by now
 */
export function verdict(error: unknown, failures: number): Reason | null {
	const ofModel = mayPass(error);
	const lasting = error instanceof AppError && error.code !== 'unavailable' && !ofModel;
	if (lasting) return { code: error.code, message: error.message };
	if (failures < (ofModel ? MODEL_ATTEMPTS : ATTEMPTS)) return null;
	const message = error instanceof AppError ? error.message : 'The document could not be processed.';
	return { code: ofModel ? 'model_error' : 'internal_error', message };
}

/** The commit with which a document ends in `error`, and in no generation of the index. */
export function failDocument(
	knowledgeBase: KnowledgeBaseRecord,
	document: DocumentRecord,
	error: Reason,
	now: number,
): Required<Pick<Commit, 'expect' | 'write' | 'events'>> {
	const { pending, failed } = shareOf(document);
	const counts = recount(knowledgeBase, { pending: -pending, failed: 1 - failed }, now);
	const title = document.title || document.file_name || document.url || 'Untitled';
	const set = { title: title.slice(0, 500), status: 'error' as const, error, chunk_count: 0, updated_at: now };
	return {
		expect: [versionOf('knowledge_bases', knowledgeBase), versionOf('documents', document)],
		write: [
			{ op: 'patch', kind: 'documents', id: document.id, set },
			counts.write,
			...removeFromIndex(knowledgeBase, document.id),
		],
		events: counts.events,
	};
}
