import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Client } from 'pg';
import { connectionOptions } from '../../../src/store/postgres/connection.ts';
import { migrate } from '../../../src/store/postgres/migrate.ts';
import {
	applyIndexWrite,
	dropGenerationsOf,
	eraseDroppedIndexes,
	hasDroppedIndexes,
	PostgresSearchReader,
} from '../../../src/store/postgres/search/index.ts';
import { type Sql, sqlOf } from '../../../src/store/postgres/sql.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';

const open = (generation: string, knowledge_base_id = 'kb_1') =>
	({ op: 'index.open_generation', generation, knowledge_base_id, embedder: 'builtin' }) as const;

/** A document with a chunk for each body, with the same vector each. */
function add(generation: string, document_id: string, bodies: string[], basis: string | null = null) {
	const chunks = bodies.map((body_terms) => ({
		...{ text: `text of ${body_terms}`, heading_path: [], page: null, title_terms: '', body_terms },
	}));
	const vectors = basis === null ? null : new Int8Array(4 * bodies.length).fill(1);
	const place = { generation, document_id, title: document_id, url: null, language: null };
	return { op: 'index.add_document', ...place, chunks, basis, vectors } as const;
}

suite('the search index in memory', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let url: string;
	let client: Client;
	let sql: Sql;

	async function connect(): Promise<Client> {
		const opened = new Client(connectionOptions(url));
		await opened.connect();
		return opened;
	}

	before(async () => {
		server = await startPostgres();
		url = await server.database('reader');
		await migrate(url);
		client = await connect();
		sql = sqlOf(client);
	});
	after(async () => {
		await client.end();
		await server[Symbol.asyncDispose]();
	});

	const found = (reader: PostgresSearchReader, generation: string, term: string) =>
		reader.snapshot(async (index) =>
			((await index.generation(generation))?.searchKeywords([term], 10) ?? []).map(({ id }) => id),
		);

	test('drops all generations of a knowledge base with all their rows, and no other', async () => {
		const tables = ['bases', 'chunks', 'generation_languages', 'indexed_documents', 'removed_chunks', 'vectors'];
		const counts = async () => {
			const found: Array<number | undefined> = [];
			for (const table of tables) {
				found.push((await sql.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`))?.count);
			}
			return found;
		};
		const fill = async (generation: string, knowledgeBase: string) => {
			const basis = `basis_of_${generation}`;
			const opening = { op: 'index.open_basis', generation, basis, dimensions: 4, trained_on: 1 } as const;
			await applyIndexWrite(sql, open(generation, knowledgeBase));
			await applyIndexWrite(sql, { ...opening, model: Uint8Array.of(1) });
			await applyIndexWrite(sql, add(generation, 'doc_a', ['x', 'y'], basis));
			await applyIndexWrite(sql, add(generation, 'doc_a', ['x'], basis));
		};
		await fill('gen_kept', 'kb_kept');
		const before = await counts();
		assert.ok(before.every((count) => count === 1));
		await fill('gen_gone_1', 'kb_gone');
		await fill('gen_gone_2', 'kb_gone');
		await dropGenerationsOf(sql, 'kb_gone');
		await dropGenerationsOf(sql, 'kb_none');
		while (await hasDroppedIndexes(sql)) await eraseDroppedIndexes(sql, 100);
		assert.deepEqual(await counts(), before);
		assert.deepEqual(await sql.all('SELECT id FROM generations'), [{ id: 'gen_kept' }]);
	});

	test('a document that another transaction adds at the same time is found when it is committed', async () => {
		await using reader = new PostgresSearchReader(url);
		const clients = [await connect(), await connect()] as const;
		const [first, second] = [sqlOf(clients[0]), sqlOf(clients[1])];
		await applyIndexWrite(sql, open('gen_race'));
		await first.run('BEGIN');
		await second.run('BEGIN');
		await applyIndexWrite(first, add('gen_race', 'doc_a', ['x', 'x']));
		const added = applyIndexWrite(second, add('gen_race', 'doc_b', ['x', 'y']));
		assert.deepEqual(await found(reader, 'gen_race', 'x'), []);
		await first.run('COMMIT');
		await added;
		const of = await found(reader, 'gen_race', 'x');
		assert.equal(of.length, 2);
		await second.run('COMMIT');
		const ofBoth = await found(reader, 'gen_race', 'x');
		assert.deepEqual(ofBoth.slice(0, 2), of);
		assert.ok(ofBoth.length === 3 && (ofBoth[2] as number) > (of[1] as number));
		for (const opened of clients) await opened.end();
	});

	test('keeps the generations that were searched last, as many as the memory holds', async () => {
		const generations = ['gen_lru_1', 'gen_lru_2', 'gen_lru_3'];
		for (const generation of generations) {
			await applyIndexWrite(sql, open(generation));
			await applyIndexWrite(sql, add(generation, 'doc_a', ['x']));
		}
		await using large = new PostgresSearchReader(url);
		for (const at of [0, 1, 2, 0]) await found(large, generations[at] as string, 'x');
		assert.deepEqual(large.loadedGenerations, ['gen_lru_2', 'gen_lru_3', 'gen_lru_1']);

		await using small = new PostgresSearchReader(url, { maxBytes: 1 });
		for (const at of [0, 1, 2, 2]) assert.equal((await found(small, generations[at] as string, 'x')).length, 1);
		assert.deepEqual(small.loadedGenerations, ['gen_lru_3']);
		await applyIndexWrite(sql, { op: 'index.drop_generation', generation: 'gen_lru_3' });
		assert.deepEqual(await found(small, 'gen_lru_3', 'x'), []);
		assert.deepEqual(small.loadedGenerations, []);
	});

	test('loads a generation again when it has missed too many changes', async () => {
		await using reader = new PostgresSearchReader(url);
		await applyIndexWrite(sql, open('gen_behind'));
		await applyIndexWrite(sql, add('gen_behind', 'doc_a', ['x']));
		await applyIndexWrite(sql, add('gen_behind', 'doc_b', ['x']));
		assert.equal((await found(reader, 'gen_behind', 'x')).length, 2);
		await applyIndexWrite(sql, { op: 'index.remove_document', generation: 'gen_behind', document_id: 'doc_a' });
		await sql.run("UPDATE generations SET changes = changes + 10000 WHERE id = 'gen_behind'");
		await applyIndexWrite(sql, add('gen_behind', 'doc_b', ['x']));
		const removals = await sql.all("SELECT 1 FROM removed_chunks WHERE generation = 'gen_behind'");
		assert.equal(removals.length, 1, 'the first removal is forgotten');
		assert.equal((await found(reader, 'gen_behind', 'x')).length, 1);
	});

	test('connects again after its connection was lost', async () => {
		await using reader = new PostgresSearchReader(url);
		await applyIndexWrite(sql, open('gen_lost'));
		await applyIndexWrite(sql, add('gen_lost', 'doc_a', ['x']));
		const terminate = () =>
			sql.run('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
		assert.equal((await found(reader, 'gen_lost', 'x')).length, 1);
		await terminate();
		assert.equal((await found(reader, 'gen_lost', 'x')).length, 1);
		await assert.rejects(
			reader.snapshot(async (index) => {
				await terminate();
				await index.generation('gen_lost');
			}),
		);
		assert.equal((await found(reader, 'gen_lost', 'x')).length, 1);
	});
});
