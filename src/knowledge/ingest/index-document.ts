import { type Clock, newId } from '../../base/index.ts';
import type { ParsedDocument } from '../../contract/index.ts';
import type { Pool } from '../../pool/index.ts';
import type { Commit, DocumentRecord, Generation, KnowledgeBaseRecord, Store, Write } from '../../store/index.ts';
import { versionOf } from '../documents.ts';
import { recount } from '../status.ts';

/** The kind of job that trains a knowledge base's embedding anew. */
export const TRAIN = 'train';

/** A basis is trained anew once its generation has grown by this factor since. */
const GROWTH = 1.5;

/** A new basis is also worth while when this share of a document's words is unknown to the old one. */
const UNKNOWN_SHARE = 0.5;

export interface IndexDependencies {
	store: Store & { databaseFile: string };
	pool: Pool;
	clock: Clock;
	/** Aborts when the server stops: work in hand is let go, and taken up at the next start. */
	signal: AbortSignal;
}

/** The writes that put a document into the index, and whether the basis should be trained anew soon. */
interface Indexed {
	writes: Write[];
	generation: string | null;
	trainSoon: boolean;
	/** What the vectors were made for; where the knowledge base serves something else by now, they are worthless. */
	basedOn: { generation: string | null; basis: string | null };
}

/**
 * Puts a parsed document into its knowledge base's index in one commit: chunks, full text, vectors, status and event.
 * Must run alone for its knowledge base. Does nothing when the document has gone meanwhile.
 */
export async function indexDocument(
	{ store, pool, clock, signal }: IndexDependencies,
	documentId: string,
	jobId: string,
	parsed: ParsedDocument,
): Promise<void> {
	let indexed: Indexed | undefined;
	for (;;) {
		const document = await store.get('documents', documentId);
		const knowledgeBase = document && (await store.get('knowledge_bases', document.knowledge_base_id));
		if (!document || !knowledgeBase || document.status !== 'processing') return;
		const generation = knowledgeBase.generation ? await store.generation(knowledgeBase.generation) : undefined;
		const titled = { ...document, title: titleOf(document, parsed) };
		if (
			indexed?.basedOn.generation !== (generation?.id ?? null) ||
			indexed.basedOn.basis !== (generation?.basis ?? null)
		) {
			indexed = await embed({ store, pool, signal }, knowledgeBase, generation, titled, parsed);
		}
		const { outcome } = await store.commit(finish(knowledgeBase, titled, jobId, parsed, indexed, clock.now()));
		if (outcome !== 'conflict') return;
	}
}

/** What the uploader said, else what the document says, else where it came from. */
function titleOf(document: DocumentRecord, parsed: ParsedDocument): string {
	return (document.title || parsed.title || document.file_name || document.url || 'Untitled').slice(0, 500);
}

async function embed(
	{ store, pool, signal }: Omit<IndexDependencies, 'clock'>,
	knowledgeBase: KnowledgeBaseRecord,
	generation: Generation | undefined,
	document: DocumentRecord,
	parsed: ParsedDocument,
): Promise<Indexed> {
	const { chunks } = parsed;
	const database = store.databaseFile;
	const basedOn = { generation: generation?.id ?? null, basis: generation?.basis ?? null };
	if (chunks.length === 0) {
		const clear: Write[] = generation
			? [{ op: 'index.remove_document', generation: generation.id, document_id: document.id }]
			: [];
		return { writes: clear, generation: basedOn.generation, trainSoon: false, basedOn };
	}
	const terms = chunks.map(({ title_terms, body_terms }) => ({ title_terms, body_terms }));
	const { id: document_id, title, url } = document;
	const addition = { document_id, title, url, language: parsed.language, chunks };
	if (generation?.basis) {
		const fold = await pool.fold({ kind: 'fold', database, basis: generation.basis, chunks: terms }, signal);
		return {
			writes: [
				{
					op: 'index.add_document',
					generation: generation.id,
					...addition,
					basis: generation.basis,
					vectors: fold.vectors,
				},
			],
			generation: generation.id,
			trainSoon:
				generation.chunk_count + chunks.length >= GROWTH * generation.trained_on || fold.unknown_share >= UNKNOWN_SHARE,
			basedOn,
		};
	}
	// The first document of a knowledge base: its own chunks make the first basis, so that it is searchable at once.
	const id = generation?.id ?? newId('generation');
	const basis = newId('basis');
	const trained = await pool.train(
		{ kind: 'train', database, generation: generation?.id ?? null, chunks: terms },
		signal,
	);
	const writes: Write[] = generation
		? []
		: [{ op: 'index.open_generation', generation: id, knowledge_base_id: knowledgeBase.id }];
	writes.push({
		op: 'index.open_basis',
		generation: id,
		basis,
		dimensions: trained.dimensions,
		trained_on: trained.trained_on,
		model: trained.model,
	});
	if (trained.stored_ids.length > 0) {
		writes.push({ op: 'index.add_vectors', basis, chunk_ids: trained.stored_ids, vectors: trained.stored_vectors });
	}
	writes.push(
		{ op: 'index.add_document', generation: id, ...addition, basis, vectors: trained.vectors },
		{ op: 'index.serve_basis', generation: id, basis },
	);
	return { writes, generation: id, trainSoon: false, basedOn };
}

function finish(
	knowledgeBase: KnowledgeBaseRecord,
	document: DocumentRecord,
	jobId: string,
	parsed: ParsedDocument,
	indexed: Indexed,
	now: number,
): Commit {
	const counts = recount(knowledgeBase, { pending: -1 }, now, { generation: indexed.generation, last_indexed_at: now });
	const commit = {
		expect: [versionOf('knowledge_bases', knowledgeBase), versionOf('documents', document)],
		write: [
			...indexed.writes,
			{
				op: 'patch',
				kind: 'documents',
				id: document.id,
				set: {
					title: document.title,
					status: 'indexed',
					error: null,
					chunk_count: parsed.chunks.length,
					page_count: parsed.page_count,
					language: parsed.language,
					indexed_at: now,
					updated_at: now,
				},
			},
			counts.write,
		],
		events: counts.events,
		jobs: [{ op: 'settle', id: jobId }],
	} satisfies Commit as Commit;
	if (indexed.trainSoon) {
		const job = { id: newId('job'), kind: TRAIN, ref: knowledgeBase.id, group: knowledgeBase.id, due_at: now };
		commit.jobs?.push({ op: 'enqueue', job });
	}
	return commit;
}
