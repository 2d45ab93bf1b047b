import type { ParsedDocument } from '../../contract/index.ts';
import { BUILTIN_EMBEDDER, type Embedders } from '../../models/index.ts';
import {
	type Commit,
	type DocumentRecord,
	decideAndCommit,
	expectVersion,
	type KnowledgeBaseRecord,
	type Write,
} from '../../store/index.ts';
import { embedderFor, type PreparedVectors } from '../embedding/index.ts';
import { moveCounts } from '../status.ts';
import { queueTrainingAfterChange, TRAIN } from '../training/training-policy.ts';
import { countChangedChunks, countChunksChangedByCopy } from './changed-chunks.ts';
import {
	type IndexChange,
	type IndexFields,
	type TrainingDependencies,
	writesWithTraining,
	writesWithVectors,
} from './document-writes.ts';
import { addToGeneration, titleOf } from './generation-document.ts';

/** `signal` aborts when the server stops. The next start continues the work. */
export interface IndexDependencies extends TrainingDependencies {
	embedders: Embedders;
}

/**
 * Puts a parsed document into its knowledge base's index in one commit: chunks, full text, vectors, status and event.
 * The caller holds the index lock of the knowledge base. Does nothing if the document was removed meanwhile.
 * @returns false if the index needs other vectors than the prepared ones: prepare them again and call again
 */
export async function indexDocument(
	deps: IndexDependencies,
	documentId: string,
	jobId: string,
	parsed: ParsedDocument,
	prepared: PreparedVectors,
): Promise<boolean> {
	const { store, embedders, clock } = deps;
	let indexed: IndexChange | null | undefined;
	let changedChunks = 0;
	return decideAndCommit(store, async () => {
		const document = await store.get('documents', documentId);
		const knowledgeBase = document && (await store.get('knowledge_bases', document.knowledge_base_id));
		if (!document || !knowledgeBase || document.status !== 'processing') return { commit: null, result: true };
		const generation = knowledgeBase.generation
			? await store.searchIndex.generation(knowledgeBase.generation)
			: undefined;
		if (embedderFor(generation, embedders.configured) !== prepared.embedder) return { commit: null, result: false };
		// The index was replaced by one of the same embedder, and another model may answer under its name since.
		const isReplaced = prepared.generation !== null && prepared.generation !== generation?.id;
		if (isReplaced && prepared.embedder !== BUILTIN_EMBEDDER) return { commit: null, result: false };
		const titled = { ...document, title: titleOf(document, parsed) };
		if (
			indexed?.madeFor.generation !== (generation?.id ?? null) ||
			indexed.madeFor.basis !== (generation?.basis ?? null)
		) {
			changedChunks = await countChangedChunks(store, document, parsed);
			indexed =
				prepared.embedder === BUILTIN_EMBEDDER
					? await writesWithTraining(deps, knowledgeBase, generation, titled, parsed, changedChunks)
					: await writesWithVectors(store, knowledgeBase, generation, titled, parsed, prepared);
		}
		if (indexed === null) return { commit: null, result: false };
		const { page_count, language, chunks, missing_text } = parsed;
		const error = missing_text ? { code: 'unreadable_file', message: missing_text } : null;
		const fields = { title: titled.title, chunk_count: chunks.length, page_count, language, error };
		const writes = [...indexed.writes, ...addToRebuilding(knowledgeBase, titled, parsed)];
		const now = clock.now();
		const indexFields = indexed.needsTraining ? { ...indexed.fields, training_asked_at: now } : indexed.fields;
		const commit = indexedCommit(knowledgeBase, titled, jobId, { fields, changedChunks, writes, indexFields }, now);
		// Also while documents wait: the training decides whether the basis is outgrown and need not wait for them.
		if (indexed.needsTraining) commit.jobs.push(queueTrainingAfterChange(knowledgeBase, now));
		// A training that has failed then replaces the basis without tuning. Later documents do not shorten its delay.
		if (indexed.outgrowsBasis) commit.jobs.push({ op: 'make_due', kind: TRAIN, ref: knowledgeBase.id });
		return { commit, result: true };
	});
}

/**
 * Adds a document that is indexed during a rebuild to the new generation as well, or the swap would lose it. The rebuild
 * embeds it together with all others. The commit makes it the document's next version.
 */
function addToRebuilding(
	{ rebuilding }: KnowledgeBaseRecord,
	document: DocumentRecord,
	parsed: ParsedDocument,
): Write[] {
	return rebuilding === null ? [] : [addToGeneration(rebuilding, document, parsed, document.version + 1)];
}

/**
 * Indexes a document by copying the chunks of another document with the same bytes. The caller holds the index lock of the
 * knowledge base.
 * @returns false if that document is gone or lacks a part of its text, or if a rebuild runs, which does not use chunks from before
 * it: then the document must be parsed
 */
export function copyIndexedDuplicate(
	{ store, clock }: Pick<IndexDependencies, 'store' | 'clock'>,
	documentId: string,
	jobId: string,
): Promise<boolean> {
	return decideAndCommit(store, async () => {
		const document = await store.get('documents', documentId);
		const knowledgeBase = document && (await store.get('knowledge_bases', document.knowledge_base_id));
		if (!document || !knowledgeBase || document.status !== 'processing') return { commit: null, result: true };
		const duplicate = knowledgeBase.rebuilding === null ? await store.documents.indexedDuplicate(document) : undefined;
		if (!duplicate) return { commit: null, result: false };
		const { title, chunk_count, page_count, language } = duplicate;
		const fields = { title: document.title || title, chunk_count, page_count, language, error: null };
		const writes: Write[] = knowledgeBase.generation
			? [
					{
						op: 'index.copy_document',
						generation: knowledgeBase.generation,
						from_document_id: duplicate.id,
						document_id: document.id,
						title: fields.title,
						url: document.url,
					},
				]
			: [];
		const changedChunks = await countChunksChangedByCopy(store, document, duplicate);
		const commit = indexedCommit(knowledgeBase, document, jobId, { fields, changedChunks, writes }, clock.now());
		commit.expect.push(expectVersion('documents', duplicate));
		return { commit, result: true };
	});
}

/** How a document becomes indexed. */
interface DocumentChange {
	/** The fields of its record that describe its content. */
	fields: Pick<DocumentRecord, 'title' | 'chunk_count' | 'page_count' | 'language' | 'error'>;
	/** Chunks that were added, removed or replaced. */
	changedChunks: number;
	writes: readonly Write[];
	indexFields?: Partial<IndexFields>;
}

/** The commit that makes a document indexed. */
function indexedCommit(
	knowledgeBase: KnowledgeBaseRecord,
	document: DocumentRecord,
	jobId: string,
	{ fields, changedChunks, writes, indexFields }: DocumentChange,
	now: number,
): Required<Pick<Commit, 'expect' | 'write' | 'events' | 'jobs'>> {
	const counts = moveCounts(knowledgeBase, { pending: -1, chunks: changedChunks }, now, {
		...indexFields,
		problem: null,
		last_indexed_at: now,
	});
	const set = { ...fields, status: 'indexed' as const, indexed_at: now, updated_at: now };
	return {
		expect: [expectVersion('knowledge_bases', knowledgeBase), expectVersion('documents', document)],
		write: [...writes, { op: 'patch', kind: 'documents', id: document.id, set }, counts.write],
		events: counts.events,
		jobs: [{ op: 'complete', id: jobId }, ...counts.jobs],
	};
}
