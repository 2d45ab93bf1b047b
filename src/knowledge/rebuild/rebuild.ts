import { AppError, type Clock, type KeyedLock, type Log, messageOf, newId, pause } from '../../base/index.ts';
import { type Embedders, mayPass } from '../../models/index.ts';
import {
	type Commit,
	decideAndCommit,
	type IdempotencyRecord,
	type Job,
	type KnowledgeBaseRecord,
	versionOf,
	type Write,
} from '../../store/index.ts';
import type { Documents } from '../documents.ts';
import { embedGeneration } from '../embedding/index.ts';
import { MODEL_ATTEMPTS } from '../ingest/fail-document.ts';
import { retryDelay, type Work } from '../job-loop.ts';
import { recount } from '../status.ts';
import { type BuiltBasis, buildLargeBasis, foldNewer, type LargeBasisDependencies } from '../training/build-basis.ts';
import { SMALL } from '../training/growth.ts';
import { coverage, Filling } from './fill-generation.ts';
import { swapGeneration } from './swap-generation.ts';

export interface RebuildDependencies extends Omit<LargeBasisDependencies, 'signal'> {
	documents: Documents;
	embedders: Embedders;
	clock: Clock;
	log: Log;
	/** Held while the index of a knowledge base changes, by its id. */
	indexing: KeyedLock;
	retryMs: number;
}

/** The kind of job that builds a knowledge base's index anew. */
export const REBUILD = 'rebuild';

/** Rebuilds side by side: one that takes hours must not keep all others waiting. */
const ROOM = 2;
/** A failure that may pass is tried so often. What was built is kept from one attempt to the next. */
const ATTEMPTS = 5;
/** A rebuild that was cut off this often may be what ends our process: give it up. */
const CLAIMS = 30;
/** Passes over the documents of a knowledge base that is changed all the time. */
const PASSES = 50;

/**
 * Builds a knowledge base's index anew from the stored bytes, as a generation of its own beside the one that serves, which
 * takes over in one commit. `KnowledgeBaseRecord.rebuilding` names it as long as it is there. What is indexed meanwhile goes
 * into both, what is removed or fails leaves both. A process after us goes on where this one was.
 */
export class Rebuild implements Work {
	readonly kind = REBUILD;
	readonly room = ROOM;
	readonly leaseMs = 12 * 3_600_000;
	readonly #deps: RebuildDependencies;

	constructor(deps: RebuildDependencies) {
		this.#deps = deps;
	}

	/**
	 * Asks for a rebuild, with the job and the empty generation in the same commit; where one runs, that is the one.
	 * @param receipt the answer that repeats shall get, made of the record as it was stored
	 * @throws AppError `not_found`
	 */
	ask(
		knowledgeBaseId: string,
		receipt?: (knowledgeBase: KnowledgeBaseRecord) => IdempotencyRecord | undefined,
	): Promise<KnowledgeBaseRecord> {
		const { store, clock, embedders } = this.#deps;
		return decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', knowledgeBaseId);
			if (!record) throw new AppError('not_found', 'The knowledge base does not exist.');
			if (record.rebuilding !== null) return { commit: null, result: record };
			const now = clock.now();
			const { set, write, jobs } =
				record.documents_total === 0 ? emptied(record, now) : begun(record, embedders.configured);
			const counts = recount(record, {}, now, set);
			const next = { ...record, ...set, updated_at: now, version: record.version + 1 };
			const commit: Commit = {
				expect: [versionOf('knowledge_bases', record)],
				write: [...write, counts.write],
				events: counts.events,
				jobs,
				idempotency: receipt?.(next),
			};
			return { commit, result: next };
		});
	}

	async perform(job: Job, signal: AbortSignal): Promise<void> {
		const { store } = this.#deps;
		if (job.attempts > CLAIMS) throw new AppError('internal_error', 'The rebuild was interrupted several times.');
		const generation = await this.#generationOf(job.ref);
		try {
			if (generation) await this.#rebuild(job, generation, signal);
		} catch (error) {
			// Where the knowledge base was deleted, what was built has gone with it, and there is nothing more to do.
			if ((await store.get('knowledge_bases', job.ref))?.rebuilding === generation) throw error;
		}
		await store.commit({ jobs: [{ op: 'settle', id: job.id }] });
	}

	async afterFailure(job: Job, error: unknown, failures: number): Promise<void> {
		const { store, clock, retryMs } = this.#deps;
		const attempts = mayPass(error) ? MODEL_ATTEMPTS : isLastingOfModel(error) ? 0 : ATTEMPTS;
		if (job.attempts > CLAIMS || failures >= attempts) return this.#giveUp(job, error);
		const due_at = clock.now() + retryDelay(retryMs, failures);
		await store.commit({ jobs: [{ op: 'postpone', id: job.id, due_at }] });
	}

	/** The generation that is being built. One that was begun for another embedder than the server has now begins anew. */
	#generationOf(knowledgeBaseId: string): Promise<string | null> {
		const { store, clock, embedders } = this.#deps;
		return decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', knowledgeBaseId);
			if (!record?.rebuilding) return { commit: null, result: null };
			const begunWith = (await store.generation(record.rebuilding))?.embedder;
			if (begunWith === embedders.configured) return { commit: null, result: record.rebuilding };
			const rebuilding = newId('generation');
			const { write, events } = recount(record, {}, clock.now(), { rebuilding });
			const commit: Commit = {
				expect: [versionOf('knowledge_bases', record)],
				write: [
					write,
					{ op: 'index.drop_generation', generation: record.rebuilding },
					openGeneration(record, rebuilding, embedders.configured),
				],
				events,
			};
			return { commit, result: rebuilding };
		});
	}

	async #rebuild(job: Job, generation: string, signal: AbortSignal): Promise<void> {
		const { store, indexing, embedders, retryMs } = this.#deps;
		// Null for the built-in one: all others that are configured are there.
		const embedder = embedders.resolve(embedders.configured);
		const deps = { ...this.#deps, signal };
		const knowledgeBaseId = job.ref;
		await this.#retryFailed(knowledgeBaseId, generation, signal);
		const filling = new Filling(deps, knowledgeBaseId, generation);
		let built: BuiltBasis | null = null;
		for (let pass = 0; pass < PASSES; pass++) {
			signal.throwIfAborted();
			const { changed, failed } = await filling.pass();
			if (failed > 0) await pause(retryMs, signal);
			if (changed + failed > 0) continue;
			const stored = await store.generation(generation);
			if (embedder) await embedGeneration(deps, embedder, generation);
			// A small one is trained while nothing is indexed, on every word; a large one before, as that takes a while.
			else if (built) built = await foldNewer(deps, built);
			else if (stored && stored.chunk_count > SMALL) built = await buildLargeBasis(deps, generation);
			const swap = { jobId: job.id, knowledgeBaseId, generation, filling, embedder, built };
			if (await indexing.run(knowledgeBaseId, () => swapGeneration(deps, swap))) return;
		}
		throw new AppError('unavailable', 'The knowledge base changes faster than it is indexed.');
	}

	/** Documents in `error` are tried again, as every one is that somebody retries. */
	async #retryFailed(knowledgeBaseId: string, generation: string, signal: AbortSignal): Promise<void> {
		const { store, documents } = this.#deps;
		for await (const { document } of coverage(store, knowledgeBaseId, generation)) {
			signal.throwIfAborted();
			if (document.status !== 'error') continue;
			await documents.retry(knowledgeBaseId, document.id).catch((error: unknown) => {
				// Removed just now.
				if (!(error instanceof AppError && error.code === 'not_found')) throw error;
			});
		}
	}

	/** What serves goes on to serve, and the status is again what the documents make it. */
	async #giveUp(job: Job, error: unknown): Promise<void> {
		const { store, clock, log } = this.#deps;
		const givenUp = await decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', job.ref);
			const jobs = [{ op: 'settle', id: job.id } as const];
			if (!record?.rebuilding) return { commit: { jobs }, result: false };
			const counts = recount(record, {}, clock.now(), { rebuilding: null });
			const commit: Commit = {
				expect: [versionOf('knowledge_bases', record)],
				write: [counts.write, { op: 'index.drop_generation', generation: record.rebuilding }],
				events: counts.events,
				jobs,
			};
			return { commit, result: true };
		});
		if (!givenUp) return;
		log.error({ knowledge_base: job.ref, error: messageOf(error) }, 'reindexing was given up; the old index serves');
	}
}

/** What a commit holds that begins a rebuild, or makes do without one. */
type Asked = Required<Pick<Commit, 'write' | 'jobs'>> & { set: Parameters<typeof recount>[3] & object };

function begun(record: KnowledgeBaseRecord, embedder: string): Asked {
	const { id } = record;
	const rebuilding = newId('generation');
	return {
		set: { rebuilding },
		write: [openGeneration(record, rebuilding, embedder)],
		jobs: [{ op: 'enqueue', job: { id: newId('job'), kind: REBUILD, ref: id, group: id, due_at: 0 } }],
	};
}

function openGeneration({ id }: KnowledgeBaseRecord, generation: string, embedder: string): Write {
	return { op: 'index.open_generation', generation, knowledge_base_id: id, embedder };
}

/** Whether a provider's embedder failed in a way that the next attempt would only meet again. */
function isLastingOfModel(error: unknown): boolean {
	return error instanceof AppError && error.code === 'model_error' && !mayPass(error);
}

/** Without documents there is nothing to build: the index is none, at once. */
function emptied({ generation }: KnowledgeBaseRecord, now: number): Asked {
	const write: Write[] = generation === null ? [] : [{ op: 'index.drop_generation', generation }];
	return { set: { generation: null, embedder: null, reindex_reason: null, last_indexed_at: now }, write, jobs: [] };
}
