import { type Clock, newId } from '../../base/index.ts';
import type { ParsedDocument } from '../../contract/index.ts';
import type { Pool } from '../../pool/index.ts';
import {
	type Commit,
	type DocumentRecord,
	decideAndCommit,
	type Generation,
	type KnowledgeBaseRecord,
	type Store,
	versionOf,
	type Write,
} from '../../store/index.ts';
import { recount } from '../status.ts';
import { GROWTH, SMALL, TRAIN, UNKNOWN_SHARE, worthTraining } from '../training/growth.ts';
import { addToGeneration, titleOf } from './built-document.ts';

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
	await decideAndCommit(store, async () => {
		const document = await store.get('documents', documentId);
		const knowledgeBase = document && (await store.get('knowledge_bases', document.knowledge_base_id));
		if (!document || !knowledgeBase || document.status !== 'processing') return { commit: null, result: undefined };
		const generation = knowledgeBase.generation ? await store.generation(knowledgeBase.generation) : undefined;
		const titled = { ...document, title: titleOf(document, parsed) };
		if (
			indexed?.basedOn.generation !== (generation?.id ?? null) ||
			indexed.basedOn.basis !== (generation?.basis ?? null)
		) {
			indexed = await embed({ store, pool, signal }, knowledgeBase, generation, titled, parsed);
		}
		const { page_count, language, chunks } = parsed;
		const found = { title: titled.title, chunk_count: chunks.length, page_count, language };
		const writes = [...indexed.writes, ...addToRebuilding(knowledgeBase, titled, parsed)];
		const commit = finish(knowledgeBase, titled, jobId, found, writes, indexed.generation, clock.now());
		if (indexed.trainSoon) {
			const { id } = knowledgeBase;
			commit.jobs?.push({ op: 'enqueue', job: { id: newId('job'), kind: TRAIN, ref: id, group: id, due_at: 0 } });
		}
		return { commit, result: undefined };
	});
}

/**
 * What is indexed while a rebuild runs goes into the generation that it builds as well, or the swap would lose it. It is
 * embedded there together with all else. The commit that follows makes it the document's next version.
 */
function addToRebuilding(
	{ rebuilding }: KnowledgeBaseRecord,
	document: DocumentRecord,
	parsed: ParsedDocument,
): Write[] {
	return rebuilding === null ? [] : [addToGeneration(rebuilding, document, parsed, document.version + 1)];
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
	// What the index has of the document from an earlier time is replaced.
	const total = (generation?.chunk_count ?? 0) - document.chunk_count + chunks.length;
	const grown = generation !== undefined && total >= GROWTH * generation.trained_on;
	const trainNow = total <= SMALL && (grown || knowledgeBase.documents_pending === 1);
	if (generation?.basis && !trainNow) {
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
				total > SMALL &&
				(grown || (fold.unknown_share >= UNKNOWN_SHARE && worthTraining(total, generation.trained_on))),
			basedOn,
		};
	}
	// Of a small knowledge base, and always of its first document, what is ready is also searched with all its own words.
	const id = generation?.id ?? newId('generation');
	const basis = newId('basis');
	const trained = await pool.train(
		{ kind: 'train', database, generation: generation?.id ?? null, except: document_id, chunks: terms },
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

/**
 * Indexes a document by copying what another one of the same bytes has in the index. Must run alone for its knowledge base.
 * @returns false where there is none any more, or a rebuild runs, which makes nothing of what was parsed before it: then the
 * document must be parsed after all
 */
export function copyIndexed(
	{ store, clock }: Pick<IndexDependencies, 'store' | 'clock'>,
	documentId: string,
	jobId: string,
): Promise<boolean> {
	return decideAndCommit(store, async () => {
		const document = await store.get('documents', documentId);
		const knowledgeBase = document && (await store.get('knowledge_bases', document.knowledge_base_id));
		if (!document || !knowledgeBase || document.status !== 'processing') return { commit: null, result: true };
		const twin = knowledgeBase.rebuilding === null ? await store.indexedTwin(document) : undefined;
		if (!twin) return { commit: null, result: false };
		const { title, chunk_count, page_count, language } = twin;
		const copied = { title: document.title || title, chunk_count, page_count, language };
		const write: Write[] =
			knowledgeBase.generation && chunk_count > 0
				? [
						{
							op: 'index.copy_document',
							generation: knowledgeBase.generation,
							from_document_id: twin.id,
							document_id: document.id,
							title: copied.title,
							url: document.url,
						},
					]
				: [];
		const commit = finish(knowledgeBase, document, jobId, copied, write, knowledgeBase.generation, clock.now());
		commit.expect?.push(versionOf('documents', twin));
		return { commit, result: true };
	});
}

/** The commit with which a document is indexed. */
function finish(
	knowledgeBase: KnowledgeBaseRecord,
	document: DocumentRecord,
	jobId: string,
	found: Pick<DocumentRecord, 'title' | 'chunk_count' | 'page_count' | 'language'>,
	writes: readonly Write[],
	generation: string | null,
	now: number,
): Commit {
	const counts = recount(knowledgeBase, { pending: -1 }, now, { generation, last_indexed_at: now });
	const set = { ...found, status: 'indexed' as const, error: null, indexed_at: now, updated_at: now };
	return {
		expect: [versionOf('knowledge_bases', knowledgeBase), versionOf('documents', document)],
		write: [...writes, { op: 'patch', kind: 'documents', id: document.id, set }, counts.write],
		events: counts.events,
		jobs: [{ op: 'settle', id: jobId }],
	};
}
