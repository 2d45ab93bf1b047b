import { pino } from 'pino';
import { createLog, systemClock } from '../../src/base/index.ts';
import { Knowledge } from '../../src/knowledge/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { createWorkerPool, workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { until } from '../../test/support/until.ts';
import { emptyBase } from '../search/data-set.ts';
import { commitAll } from '../search/serve-trained.ts';
import type { GeneratedFile } from './generated.ts';

const KNOWLEDGE_BASE_ID = 'kb_bench';
/** Time limit, also for slow machines. */
const DEADLINE_MS = 120_000;

/** The server's knowledge module with an empty knowledge base and running jobs, without a server. */
export interface IngestHarness extends AsyncDisposable {
	/** Resolves when every file is indexed. @throws Error if a file is not */
	ingest(files: readonly GeneratedFile[]): Promise<void>;
}

/** @param threads for parsing, and for embedding */
export async function openIngestHarness(dataDir: string, threads: number): Promise<IngestHarness> {
	const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const pool = createWorkerPool({ threads, log: createLog('silent') });
	const network = createNetwork({ allowPrivateNetwork: false });
	const knowledge = new Knowledge({ store, pool, network, clock: systemClock, log: pino({ level: 'warn' }) });
	await commitAll(store, { op: 'insert', kind: 'knowledge_bases', record: emptyBase(KNOWLEDGE_BASE_ID) });
	knowledge.start();
	const base = async () => {
		const record = await store.get('knowledge_bases', KNOWLEDGE_BASE_ID);
		if (record === undefined) throw new Error('The knowledge base is gone.');
		return record;
	};
	return {
		async ingest(files) {
			for (const { file_name, content_type, bytes } of files) {
				const blob = await store.blobs.receive(
					(async function* () {
						yield Buffer.from(bytes);
					})(),
				);
				const document = { source_type: 'file', file_name, content_type } as const;
				await knowledge.documents.addBlob(await base(), document, blob).commit();
			}
			const idle = async () => (await base()).documents_pending === 0;
			await until('every document is indexed', idle, DEADLINE_MS);
			const { documents_total, documents_failed } = await base();
			if (documents_total !== files.length || documents_failed > 0) {
				throw new Error(
					`There are ${documents_total} of ${files.length} documents, and ${documents_failed} have failed.`,
				);
			}
		},
		async [Symbol.asyncDispose]() {
			await knowledge[Symbol.asyncDispose]();
			await pool[Symbol.asyncDispose]();
			await network[Symbol.asyncDispose]();
			await store[Symbol.asyncDispose]();
		},
	};
}
