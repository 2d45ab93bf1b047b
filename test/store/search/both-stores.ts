import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AsyncDisposableStack } from '../../../src/base/index.ts';
import type { SearchJob, SearchResult, TrainResult, WorkerResult } from '../../../src/contract/index.ts';
import { workerEntry } from '../../../src/pool/index.ts';
import { openSqliteStore, requireCommitted, type Store, type Write } from '../../../src/store/index.ts';
import { openPostgresStore } from '../../../src/store/postgres/index.ts';
import { openSearchReader, type SearchReader } from '../../../src/store/search/index.ts';
import embed from '../../../workers/embed.ts';
import search from '../../../workers/search.ts';

const TOLERANCE = 1e-6;

interface OpenedStore {
	store: Store;
	reader: SearchReader;
	/** As jobs of workers name it. */
	database: string;
}

/** The embedded store and the store on PostgreSQL with the same content. */
export class BothStores implements AsyncDisposable {
	readonly stores: readonly [OpenedStore, OpenedStore];
	readonly #opened: AsyncDisposableStack;

	private constructor(stores: BothStores['stores'], opened: AsyncDisposableStack) {
		this.stores = stores;
		this.#opened = opened;
	}

	/**
	 * @param url of an empty database, or of one with the content of the folder
	 * @param dataDir a folder with an embedded database. Default: a new one
	 */
	static async open(url: string, dataDir?: string): Promise<BothStores> {
		const opened = new AsyncDisposableStack();
		const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'parley-both-')));
		if (dataDir === undefined) {
			opened.use({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) });
		}
		const embedded = opened.use(await openSqliteStore({ dataDir: folder, writer: workerEntry('store') }));
		const postgres = opened.use(await openPostgresStore({ url }));
		const withReader = async (store: Store, database: string) => ({
			...{ store, database },
			reader: opened.use(await openSearchReader(database)),
		});
		const stores = [await withReader(embedded, embedded.searchDatabase), await withReader(postgres, url)] as const;
		return new BothStores(stores, opened);
	}

	async write(...write: Write[]): Promise<void> {
		for (const { store } of this.stores) requireCommitted(await store.commit({ write }));
	}

	/** Reads from both. The results must be equal, and numbers nearly so. */
	async assertSame(read: (opened: OpenedStore) => Promise<unknown>, message: string): Promise<void> {
		const [expected, actual] = [await read(this.stores[0]), await read(this.stores[1])];
		assertNearlyEqual(actual, expected, message);
	}

	/** Trains a basis on the terms of a generation, which must be the same in both, with the worker of trainings. */
	async train(generation: string): Promise<TrainResult> {
		await this.assertSame(({ reader }) => reader.snapshot((index) => index.allTerms(generation)), 'terms');
		const [, { database }] = this.stores;
		return resultOf(
			(await embed({ kind: 'train', database, generation, tuned: false, chunks: [] })) as WorkerResult<TrainResult>,
		);
	}

	/** Searches in each store with the worker of searches. @returns the results of the embedded store, and of PostgreSQL */
	async search(jobs: ReadonlyArray<Omit<SearchJob, 'database'>>): Promise<[SearchResult[], SearchResult[]]> {
		const searchAll = async ({ database }: OpenedStore) => {
			const results: SearchResult[] = [];
			// One store after the other: a worker has one database.
			for (const job of jobs) results.push(resultOf(await search({ ...job, database })));
			return results;
		};
		return [await searchAll(this.stores[0]), await searchAll(this.stores[1])];
	}

	/** Searches in each store: the hits must be the same, in the same order, with the same scores. @returns how many hits there were */
	async assertSameHits(jobs: ReadonlyArray<Omit<SearchJob, 'database'>>): Promise<number> {
		const [expected, actual] = await this.search(jobs);
		for (const [at, job] of jobs.entries()) assertNearlyEqual(actual[at], expected[at], JSON.stringify(job.query));
		return expected.reduce((sum, { hits }) => sum + hits.length, 0);
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.#opened[Symbol.asyncDispose]();
	}
}

function resultOf<T>(result: WorkerResult<T>): T {
	if (!result.ok) throw new Error(result.error.message);
	return result.value;
}

/** @throws AssertionError if values differ, or numbers by more than the tolerance */
function assertNearlyEqual(actual: unknown, expected: unknown, message: string): void {
	if (typeof expected === 'number' && typeof actual === 'number') {
		assert.ok(Math.abs(actual - expected) <= TOLERANCE, `${message}: ${actual} is not ${expected}`);
	} else if (Array.isArray(expected) && Array.isArray(actual)) {
		assert.equal(actual.length, expected.length, message);
		for (const [at, value] of expected.entries()) assertNearlyEqual(actual[at], value, `${message} [${at}]`);
	} else if (typeof expected === 'object' && expected !== null && typeof actual === 'object' && actual !== null) {
		assert.deepEqual(Object.keys(actual).sort(), Object.keys(expected).sort(), message);
		for (const [key, value] of Object.entries(expected)) {
			assertNearlyEqual((actual as Record<string, unknown>)[key], value, `${message} .${key}`);
		}
	} else assert.deepEqual(actual, expected, message);
}
