import { pino } from 'pino';
import { createLog, systemClock } from '../../src/base/index.ts';
import type { SearchResult } from '../../src/contract/index.ts';
import { Knowledge } from '../../src/knowledge/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { createWorkerPool, workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';

/** The number of passages in a reply's search. */
const TOP_K = 5;

/** The server's knowledge module on a data folder, without a server. */
export interface SearchHarness extends AsyncDisposable {
	/** Searches as a reply does. */
	search(knowledgeBase: string, question: string): Promise<SearchResult>;
}

export async function openSearchHarness(dataDir: string): Promise<SearchHarness> {
	const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const pool = createWorkerPool({ threads: 1, log: createLog('silent') });
	const network = createNetwork({ allowPrivateNetwork: false });
	const log = pino({ level: 'silent' });
	const knowledge = new Knowledge({ store, pool, network, clock: systemClock, log });
	return {
		async search(id, question) {
			const knowledgeBase = await store.get('knowledge_bases', id);
			if (knowledgeBase === undefined) throw new Error(`There is no knowledge base ${id}.`);
			return knowledge.search([knowledgeBase], question, { top_k: TOP_K, min_score: 0 });
		},
		async [Symbol.asyncDispose]() {
			await knowledge[Symbol.asyncDispose]();
			await pool[Symbol.asyncDispose]();
			await network[Symbol.asyncDispose]();
			await store[Symbol.asyncDispose]();
		},
	};
}
