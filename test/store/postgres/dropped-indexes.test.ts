import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { IndexWrite } from '../../../src/store/index.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/index.ts';
import { openSearchReader, type SearchReader } from '../../../src/store/search/index.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';
import { DIMENSIONS, TestIndex } from '../contract/index-writes.ts';
import { inTransaction } from './transactions.ts';

const HOUR = 3_600_000;
const CHUNKS = 25;
const PORTION = 10;

suite('an index on PostgreSQL that is dropped', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let store: PostgresStore;
	let reader: SearchReader;
	let url: string;
	before(async () => {
		server = await startPostgres();
		url = await server.database('dropped');
		store = await openPostgresStore({ url, firstLeaseMs: HOUR });
		reader = await openSearchReader(url);
	});
	after(async () => {
		await reader[Symbol.asyncDispose]();
		await store[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
	});

	const rows = () =>
		inTransaction(url, (sql) =>
			sql.get<Record<'chunks' | 'vectors' | 'documents' | 'removals' | 'languages', number>>(
				`SELECT (SELECT count(*) FROM chunks) AS chunks, (SELECT count(*) FROM vectors) AS vectors,
				 (SELECT count(*) FROM indexed_documents) AS documents, (SELECT count(*) FROM removed_chunks) AS removals,
				 (SELECT count(*) FROM generation_languages) AS languages`,
			),
		);
	const sweep = () => store.commit({ write: [{ op: 'erase_expired', before: 0, limit: PORTION }] });

	test('serves no reader any more, and its rows are removed in portions', async () => {
		const index = new TestIndex({ store, reader });
		const vectors = new Int8Array(CHUNKS * DIMENSIONS).fill(1);
		const bodies = Array.from({ length: CHUNKS }, (_, n) => `body ${n}`);
		await index.write(
			...[index.open(), index.open('gen_2'), index.openBasis(), index.serve()],
			index.add('doc_1', bodies, { basis: 'basis_1', vectors }),
			index.add('doc_2', ['gone']),
			index.remove('doc_2'),
			index.add('doc_3', ['stays'], { generation: 'gen_2' }),
		);
		const drop: IndexWrite = { op: 'index.drop_generation', generation: index.id('gen_1') };
		await index.write(drop);
		assert.equal(await store.searchIndex.generation(index.id('gen_1')), undefined);
		assert.equal(await store.searchIndex.documentCount(index.id('gen_1')), 0);
		assert.deepEqual(await store.searchIndex.termsAfter(index.id('gen_1'), 0, 100), []);

		const left: number[] = [];
		while (await store.access.hasExpiredRecords(0)) {
			await sweep();
			const found = await rows();
			left.push((found?.chunks ?? 0) + (found?.vectors ?? 0));
		}
		for (const [n, count] of left.entries())
			assert.ok((left[n - 1] ?? 2 * CHUNKS + 1) - count <= PORTION, `${left} are left`);
		assert.deepEqual(await rows(), { chunks: 1, vectors: 0, documents: 1, removals: 0, languages: 1 });
	});
});
