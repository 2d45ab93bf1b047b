import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { AppError, type Clock, systemClock } from '../../src/base/index.ts';
import { Knowledge, presentStatus } from '../../src/knowledge/index.ts';
import { createEmbedders, type ProviderSettings } from '../../src/models/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import {
	type Commit,
	type DocumentRecord,
	expectVersion,
	type JobWrite,
	type KnowledgeBaseRecord,
	openSqliteStore,
	type Store,
} from '../../src/store/index.ts';
import { knowledgeBase } from '../store/samples.ts';
import { until } from '../support/until.ts';
import { PausablePool } from './pausable-pool.ts';

/** The knowledge module on a separate store, without a server around it. Failures are retried at once. */
export interface KnowledgeHarness extends AsyncDisposable {
	store: Store;
	knowledge: Knowledge;
	pool: PausablePool;
	dataDir: string;
	/** Commits for which it returns true fail as on a full disk. */
	isDiskFull: (commit: Commit) => boolean;
	/** The lines of the log, from `warn` on. */
	logLines: Array<Record<string, unknown>>;
	newBase(): Promise<string>;
	/** Queues a text file and gives the document's id. */
	add(knowledgeBase: string, fileName: string, text: string): Promise<string>;
	base(id: string): Promise<KnowledgeBaseRecord>;
	/** Changes a knowledge base's record, and queues jobs in the same commit. */
	patch(id: string, set: Partial<KnowledgeBaseRecord>, jobs?: JobWrite[]): Promise<void>;
	document(id: string): Promise<DocumentRecord>;
	/** Resolves with the document when it is indexed or has failed. */
	untilProcessed(id: string): Promise<DocumentRecord>;
	/** Resolves with the knowledge base when nothing is indexed any more. */
	untilSettled(id: string): Promise<KnowledgeBaseRecord>;
	/** Resolves with the knowledge base when its basis covers all documents and no training is due or runs. */
	untilTrained(id: string): Promise<KnowledgeBaseRecord>;
	/** The texts of the hits, best first. */
	search(knowledgeBase: string, query: string): Promise<string[]>;
}

export interface KnowledgeHarnessOptions {
	/** The id of the embedder, `builtin` by default, and the providers. */
	embedder?: string;
	providers?: ProviderSettings[];
	/** Milliseconds until the first retry; 1 by default. */
	retryMs?: number;
	/** Chunks up to which a training is part of the indexing; a small number, so that a training takes little time. */
	maxSyncTrainingChunks?: number;
}

/** The clock of the embedders: the circuit of a provider that has failed stays open for a tenth of a second, not for ten. */
const fastClock: Clock = { now: () => 100 * Date.now() };

/** Opens a harness. It claims no jobs until `knowledge.start()`. */
export async function openKnowledgeHarness({
	embedder = 'builtin',
	providers = [],
	retryMs = 1,
	maxSyncTrainingChunks = 100,
}: KnowledgeHarnessOptions = {}): Promise<KnowledgeHarness> {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-knowledge-'));
	const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const pool = new PausablePool();
	const commitToDisk = store.commit.bind(store);
	store.commit = async (commit) => (harness.isDiskFull(commit) ? Promise.reject(diskFull()) : commitToDisk(commit));
	const network = createNetwork({ allowPrivateNetwork: false });
	const logLines: KnowledgeHarness['logLines'] = [];
	const log = pino({ level: 'warn' }, { write: (line: string) => void logLines.push(JSON.parse(line)) });
	const embedders = createEmbedders(embedder, providers, { network, clock: fastClock, log, random: () => 1 });
	const options = { retryMs, maxSyncTrainingChunks };
	const knowledge = new Knowledge({ store, pool, network, embedders, clock: systemClock, log, ...options });

	const document = async (id: string) => {
		const record = await store.get('documents', id);
		if (!record) throw new Error(`There is no document ${id}.`);
		return record;
	};
	const base = async (id: string) => {
		const record = await store.get('knowledge_bases', id);
		if (!record) throw new Error(`There is no knowledge base ${id}.`);
		return record;
	};
	const harness: KnowledgeHarness = {
		store,
		knowledge,
		pool,
		dataDir,
		isDiskFull: () => false,
		logLines,
		async newBase() {
			const record = knowledgeBase();
			await store.commit({ write: [{ op: 'insert', kind: 'knowledge_bases', record }] });
			return record.id;
		},
		async add(id, file_name, text) {
			const blob = await store.blobs.receive(
				(async function* () {
					yield Buffer.from(text);
				})(),
			);
			const added = { source_type: 'file', file_name, content_type: 'text/plain' } as const;
			return (await knowledge.documents.addBlob(await base(id), added, blob).commit()).id;
		},
		base,
		async patch(id, set, jobs = []) {
			const { outcome } = await store.commit({
				expect: [expectVersion('knowledge_bases', await base(id))],
				write: [{ op: 'patch', kind: 'knowledge_bases', id, set }],
				jobs,
			});
			assert.equal(outcome, 'committed');
		},
		document,
		untilProcessed: (id) =>
			until('the document is processed', async () => {
				const record = await document(id);
				return ['indexed', 'error'].includes(record.status) && record;
			}),
		untilSettled: (id) =>
			until('the knowledge base is indexed', async () => {
				const record = await base(id);
				return presentStatus(record).status !== 'indexing' && record;
			}),
		untilTrained: (id) =>
			until('the knowledge base is trained', async () => {
				const record = await base(id);
				return presentStatus(record).trained_at !== null && record;
			}),
		async search(id, query) {
			const { hits } = await knowledge.search([await base(id)], query, { top_k: 50, min_score: 0 });
			return hits.map(({ text }) => text);
		},
		async [Symbol.asyncDispose]() {
			await knowledge[Symbol.asyncDispose]();
			await pool[Symbol.asyncDispose]();
			await network[Symbol.asyncDispose]();
			await store[Symbol.asyncDispose]();
			// A worker that starts meanwhile may open the database once more, which makes a file.
			await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
		},
	};
	return harness;
}

/** The error of a commit on a full disk. */
function diskFull(): AppError {
	const cause = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
	return new AppError('unavailable', 'The change could not be written to disk.', { retry_after: 5, cause });
}

/** Whether a commit stores vectors in the index. */
export function storesVectors({ write = [] }: Commit): boolean {
	return write.some(
		(one) => one.op === 'index.add_vectors' || (one.op === 'index.add_document' && one.vectors !== null),
	);
}

/** Words of one section: two of them are too many for one chunk. */
const WORDS = 200;
/** Different words of one section. More would only make the index and the training of a basis slower. */
const DIFFERENT_WORDS = 10;

/** A document of `chunks` sections, each of which becomes a chunk. */
export function manyChunks(chunks: number, about: string): string {
	const sections = Array.from({ length: chunks }, (_, at) => {
		const words = Array.from({ length: WORDS }, (_, n) => `${about}${(at * 37 + (n % DIFFERENT_WORDS)) % 500}`);
		return `# Shelf ${at} of ${about}\n\n${words.join(' ')}.`;
	});
	return sections.join('\n\n');
}
