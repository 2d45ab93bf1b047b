import { AppError, KeyedLock, type Log, messageOf, pause } from '../../base/index.ts';
import type { DocumentRecord, Job, Write } from '../../store/index.ts';
import { INGEST, versionOf } from '../documents.ts';
import { recount } from '../status.ts';
import { type FetchDependencies, fetchDocument } from './fetch-document.ts';
import { copyIndexed, type IndexDependencies, indexDocument, TRAIN } from './index-document.ts';
import { trainBasis } from './train-basis.ts';

export interface IngestDependencies extends Omit<IndexDependencies, 'signal'>, FetchDependencies {
	store: IndexDependencies['store'];
	log: Log;
}

/** A job in hand is ours for this long; a process after us takes it up at once all the same. */
const LEASE_MS = 30 * 60_000;
/** How often to look for jobs that were postponed. */
const LOOK_MS = 2_000;
/** A failure that may pass is tried so often. */
const ATTEMPTS = 3;
/** A document whose processing was cut off this often may be what ends our process: give it up. */
const CLAIMS = 30;
const RETRY_MS = 5_000;

/**
 * Turns queued documents into indexed ones: fetch, parse, chunk, embed, index. What the process had in hand when it ended
 * is still queued in the store and is taken up again at the next start.
 */
export class Ingest implements AsyncDisposable {
	readonly #deps: IngestDependencies;
	/** Indexing changes one knowledge base at a time, in order; parsing runs beside it. */
	readonly #indexing = new KeyedLock();
	readonly #parsing = new KeyedLock();
	readonly #inHand = new Map<string, Promise<void>>();
	readonly #ending = new AbortController();
	#wake: () => void = () => {};
	#loop: Promise<void> | undefined;

	constructor(deps: IngestDependencies) {
		this.#deps = deps;
	}

	/** Begins to take jobs. */
	start(): void {
		this.#loop ??= this.#run();
	}

	/** Says that there may be a job now. */
	wake(): void {
		this.#wake();
	}

	/** Takes no more jobs and lets go of those in hand; they are taken up again at the next start. */
	async [Symbol.asyncDispose](): Promise<void> {
		this.#ending.abort(new Error('The server is stopping.'));
		this.#wake();
		await this.#loop;
		await Promise.all(this.#inHand.values());
	}

	async #run(): Promise<void> {
		const { signal } = this.#ending;
		while (!signal.aborted) {
			const look = new AbortController();
			this.#wake = () => look.abort();
			const taken = await this.#takeJobs();
			if (taken === 0) await pause(LOOK_MS, AbortSignal.any([look.signal, signal]));
		}
	}

	/** Takes as many jobs as there is room for, and waits while there is none. */
	async #takeJobs(): Promise<number> {
		const { store, pool, log } = this.#deps;
		const room = pool.size + 1 - this.#inHand.size;
		if (room <= 0) {
			await Promise.race(this.#inHand.values());
			return 1;
		}
		try {
			const jobs = [
				...(await store.jobs.claim(INGEST, room, LEASE_MS)),
				...(await store.jobs.claim(TRAIN, 1, LEASE_MS)),
			];
			for (const job of jobs) {
				if (this.#inHand.has(job.id)) continue;
				const work = this.#perform(job).finally(() => this.#inHand.delete(job.id));
				this.#inHand.set(job.id, work);
			}
			return jobs.length;
		} catch (error) {
			if (!this.#ending.signal.aborted) log.error({ error: messageOf(error) }, 'cannot take jobs');
			return 0;
		}
	}

	async #perform(job: Job): Promise<void> {
		const { store, clock, log } = this.#deps;
		const { signal } = this.#ending;
		try {
			if (job.kind === TRAIN) await this.#indexing.run(job.ref, () => trainBasis({ ...this.#deps, signal }, job.ref));
			else await this.#ingest(job);
		} catch (error) {
			if (signal.aborted) return;
			log.warn({ job: job.kind, ref: job.ref, attempt: job.attempts, error: messageOf(error) }, 'job failed');
			const failure = verdict(error, job.attempts);
			try {
				if (failure && job.kind === INGEST) await this.#fail(job, failure);
				else if (failure) await store.commit({ jobs: [{ op: 'settle', id: job.id }] });
				else {
					const due_at = clock.now() + RETRY_MS * 2 ** (job.attempts - 1);
					await store.commit({ jobs: [{ op: 'postpone', id: job.id, due_at }] });
				}
			} catch (second) {
				// A full disk, say. The job stays in hand, and the whole of it is tried again when that may have passed.
				log.error({ job: job.kind, ref: job.ref, error: messageOf(second) }, 'cannot settle a job');
				await pause(RETRY_MS, signal);
				if (!signal.aborted) await this.#perform(job);
			}
		}
	}

	async #ingest(job: Job): Promise<void> {
		if (job.attempts > CLAIMS) throw new AppError('internal_error', GIVEN_UP);
		const begun = await this.#begin(job);
		if (!begun) return;
		if (begun.blob) {
			await this.#index(job, begun, begun.blob);
			return;
		}
		const fetched = await fetchDocument(this.#deps, begun, this.#ending.signal);
		if (!fetched) return;
		try {
			await this.#index(job, fetched, fetched.blob);
		} finally {
			// Whoever deleted the knowledge base just before these bytes were kept did not know of them.
			await this.#deps.documents.removeUnusedBlob(fetched.blob);
		}
	}

	async #index(job: Job, document: DocumentRecord, blob: string): Promise<void> {
		const { store, pool } = this.#deps;
		const { signal } = this.#ending;
		const { knowledge_base_id } = document;
		// The same bytes at once are parsed once: the second waits here, and finds the first indexed.
		await this.#parsing.run(`${knowledge_base_id} ${blob}`, async () => {
			const index = <T>(task: () => Promise<T>) => this.#indexing.run(knowledge_base_id, task);
			const twin = await store.indexedTwin(document);
			if (twin && (await index(() => copyIndexed(this.#deps, document.id, job.id, twin)))) return;
			const { file_name, content_type, url } = document;
			const path = store.blobs.path(blob);
			const parsed = await pool.parse({ path, file_name, content_type, title: document.title || null, url }, signal);
			await index(() => indexDocument({ ...this.#deps, signal }, document.id, job.id, parsed));
		});
	}

	/** Marks the document as being processed; null when there is nothing to do any more. */
	async #begin(job: Job): Promise<DocumentRecord | null> {
		const { store, clock } = this.#deps;
		const document = await store.get('documents', job.ref);
		if (!document || document.status === 'indexed' || document.status === 'error') {
			await store.commit({ jobs: [{ op: 'settle', id: job.id }] });
			return null;
		}
		const set = { status: 'processing' as const, attempts: document.attempts + 1, updated_at: clock.now() };
		const { outcome } = await store.commit({
			expect: [versionOf('documents', document)],
			write: [{ op: 'patch', kind: 'documents', id: document.id, set }],
		});
		return outcome === 'committed' ? { ...document, ...set, version: document.version + 1 } : null;
	}

	/** The document ends in `error` with a sentence that a person can act on. */
	async #fail(job: Job, error: { code: string; message: string }): Promise<void> {
		const { store, clock } = this.#deps;
		for (;;) {
			const document = await store.get('documents', job.ref);
			const knowledgeBase = document && (await store.get('knowledge_bases', document.knowledge_base_id));
			if (!document || !knowledgeBase) return;
			const now = clock.now();
			const counts = recount(knowledgeBase, { pending: -1, failed: 1 }, now);
			const title = document.title || document.file_name || document.url || 'Untitled';
			const set = {
				title: title.slice(0, 500),
				status: 'error' as const,
				error,
				chunk_count: 0,
				updated_at: now,
			};
			const write: Write[] = [{ op: 'patch', kind: 'documents', id: document.id, set }, counts.write];
			if (knowledgeBase.generation) {
				const { generation } = knowledgeBase;
				write.push({ op: 'index.remove_document', generation, document_id: document.id });
			}
			const { outcome } = await store.commit({
				expect: [versionOf('knowledge_bases', knowledgeBase), versionOf('documents', document)],
				write,
				events: counts.events,
				jobs: [{ op: 'settle', id: job.id }],
			});
			if (outcome !== 'conflict') return;
		}
	}
}

const GIVEN_UP = 'Processing was interrupted several times. Retry the document, or look into the server’s log.';

/** What to tell of a failure; null for one that may pass, while there are attempts left. */
function verdict(error: unknown, attempts: number): { code: string; message: string } | null {
	const lasting = error instanceof AppError && error.code !== 'unavailable';
	if (lasting) return { code: error.code, message: error.message };
	if (attempts < ATTEMPTS) return null;
	const message = error instanceof AppError ? error.message : 'The document could not be processed.';
	return { code: 'internal_error', message };
}
