import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, suite, type TestContext, test } from 'node:test';
import pg from 'pg';
import { createLog, deferred, shortageOf } from '../../src/base/index.ts';
import { openPostgresBlobs, type PostgresBlobsOptions } from '../../src/store/postgres/blobs/index.ts';
import { connectionOptions } from '../../src/store/postgres/connection.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { blobContract, listed, persisted } from './contract/blobs.ts';
import { temporaryPlace } from './contract/life.ts';

suite('uploaded files on PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let databases = 0;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	/** An empty database, an observer of it, and a function that opens a node. */
	const newDatabase = async (t: TestContext) => {
		const url = await server.database(`blobs_${++databases}`);
		await migrate(url);
		const client = new pg.Client(connectionOptions(url));
		await client.connect();
		// Ends last.
		const nodes: AsyncDisposable[] = [];
		t.after(async () => {
			for (const node of nodes) await node[Symbol.asyncDispose]();
			await client.end();
		});
		const rows = async (query: string): Promise<unknown[]> => (await client.query(query)).rows;
		const node = async (options: Partial<PostgresBlobsOptions> = {}) => {
			const opened = await openPostgresBlobs({ url, log: createLog('silent'), ...options });
			nodes.push(opened);
			return opened;
		};
		return { client, rows, node };
	};
	const openBlobs = async (t: TestContext, maxReceiving?: number) => {
		const { rows, node } = await newDatabase(t);
		return {
			blobs: await node({ maxReceiving }),
			incoming: () => rows('SELECT content FROM blob_uploads'),
			stored: () => rows('SELECT content, number FROM blob_chunks'),
		};
	};

	blobContract(openBlobs);

	test('an upload is in the database in chunks before it has ended', async (t) => {
		const { rows, node } = await newDatabase(t);
		const rest = deferred<void>();
		const bytes = randomBytes(1_000_000);
		async function* source() {
			yield bytes.subarray(0, 700_000);
			await rest.promise;
			yield bytes.subarray(700_000);
		}
		const blobs = await node();
		const receiving = blobs.receive(source());
		await until('the first chunks are stored', async () => (await rows('SELECT number FROM blob_chunks')).length === 2);
		rest.resolve();
		await (await receiving).persist();
		assert.deepEqual(await rows('SELECT number, length(bytes) AS length FROM blob_chunks ORDER BY number'), [
			{ number: 0, length: 262_144 },
			{ number: 1, length: 262_144 },
			{ number: 2, length: 262_144 },
			{ number: 3, length: 1_000_000 - 3 * 262_144 },
		]);
	});

	test('the same bytes, persisted by two nodes at once, are stored once', async (t) => {
		const { rows, node } = await newDatabase(t);
		const nodes = [await node(), await node()];
		const uploads = await Promise.all(nodes.map((blobs) => blobs.receive(Readable.from([Buffer.from('same')]))));
		await Promise.all(uploads.map((upload) => upload.persist()));
		await uploads[0]?.persist();
		assert.equal((await rows('SELECT content FROM blob_chunks')).length, 1);
		assert.deepEqual(await rows('SELECT content FROM blob_uploads'), []);
	});

	test('tasks of two nodes about one blob run one after the other', async (t) => {
		const { node } = await newDatabase(t);
		const [one, other] = [await node(), await node()];
		let running = 0;
		let most = 0;
		const task = async () => {
			most = Math.max(most, ++running);
			await new Promise((resolve) => setImmediate(resolve));
			running--;
		};
		await Promise.all(Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? one : other).exclusive('a', task)));
		assert.equal(most, 1);
	});

	test('a task that waits too long for another node is refused, and the blob is free after the end of that node’s task', async (t) => {
		const { node } = await newDatabase(t);
		const [one, other] = [await node(), await node({ lockDeadlineMs: 50 })];
		const end = deferred<void>();
		const begun = deferred<void>();
		const held = one.exclusive('a', () => {
			begun.resolve();
			return end.promise;
		});
		await begun.promise;
		try {
			const refused = other.exclusive('a', async () => {});
			await assert.rejects(refused, { code: 'unavailable', message: /Another server/ });
			assert.equal(await other.exclusive('b', async () => 'another blob'), 'another blob');
		} finally {
			end.resolve();
		}
		await held;
		assert.equal(await other.exclusive('a', async () => 'afterwards'), 'afterwards');
	});

	test('a task fails whose lock was lost with its connection, and the next one runs', async (t) => {
		const { rows, node } = await newDatabase(t);
		const blobs = await node();
		const task = blobs.exclusive('a', async () => {
			await rows("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'");
			await until('the lock is gone', async () => {
				return (await rows("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'")).length === 0;
			});
		});
		await assert.rejects(task, { code: 'unavailable' });
		assert.equal(await blobs.exclusive('a', async () => 'next'), 'next');
	});

	test('more tasks than connections for locks run all, also when they use the store', async (t) => {
		const { node } = await newDatabase(t);
		const blobs = await node();
		const texts = Array.from({ length: 40 }, (_, n) => `text ${n}`);
		await Promise.all(texts.map((text) => blobs.exclusive(text, () => persisted(blobs, text))));
		assert.equal((await listed(blobs)).length, 40);
	});

	test('a sweep removes uploads that nothing was added to for an hour, and no others', async (t) => {
		const { client, rows, node } = await newDatabase(t);
		const blobs = await node();
		const uploads = await Promise.all(
			Array.from({ length: 25 }, (_, n) => blobs.receive(Readable.from([Buffer.from(`upload ${n}`)]))),
		);
		await uploads[0]?.persist();
		await client.query(
			'UPDATE blob_uploads SET expires_at = expires_at - 3600000 WHERE content <> (SELECT min(content::text) FROM blob_uploads)',
		);
		// A node sweeps when it starts.
		await node();
		await until('the expired uploads are removed', async () => {
			return (await rows('SELECT content FROM blob_uploads')).length === 1;
		});
		await until('their bytes are removed', async () => (await rows('SELECT content FROM blob_chunks')).length === 2);
		const ends = await Promise.allSettled(uploads.slice(1).map((upload) => upload.persist()));
		assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1);
		assert.equal((await listed(blobs)).length, 2);
	});

	test('an upload that has expired while it is received fails', async (t) => {
		const { client, node } = await newDatabase(t);
		const blobs = await node();
		async function* source() {
			yield randomBytes(300_000);
			await client.query('DELETE FROM blob_uploads');
			yield randomBytes(300_000);
		}
		await assert.rejects(blobs.receive(source()), { code: 'unavailable' });
	});

	test('the local copy for a task ends with it, also after an error, and those of an earlier process are removed', async (t) => {
		const { client, node } = await newDatabase(t);
		const temporaryFolder = join(await temporaryPlace(t), 'copies');
		await mkdir(temporaryFolder);
		await writeFile(join(temporaryFolder, 'left'), 'by a killed process');
		const blobs = await node({ temporaryFolder });
		const hash = await persisted(blobs, randomBytes(600_000));
		const count = async () => (await readdir(temporaryFolder)).length;
		await blobs.withFile(hash, async () => assert.equal(await count(), 1));
		assert.equal(await count(), 0);
		const failed = blobs.withFile(hash, async () => {
			throw new Error('it cannot be parsed');
		});
		await assert.rejects(failed, /cannot be parsed/);
		assert.equal(await count(), 0);
		await client.query('DELETE FROM blob_chunks WHERE number = 1');
		await assert.rejects(
			blobs.withFile(hash, (path) => readFile(path)),
			/is not stored any more/,
		);
		assert.equal(await count(), 0);
		assert.equal(await blobs.read(hash), undefined);
	});

	test('while the database is gone, uploads and reads are unavailable, and the work of a file waits', async (t) => {
		const other = await startPostgres();
		const url = await other.database('gone');
		await migrate(url);
		const blobs = await openPostgresBlobs({ url, log: createLog('silent') });
		t.after(() => blobs[Symbol.asyncDispose]());
		const hash = await persisted(blobs, 'there');
		await other[Symbol.asyncDispose]();
		const never = async () => assert.fail('the task must not run');
		await assert.rejects(persisted(blobs, 'more'), { code: 'unavailable', retry_after: 5 });
		await assert.rejects(blobs.read(hash), { code: 'unavailable', retry_after: 5 });
		await assert.rejects(blobs.probe(), { code: 'unavailable' });
		await assert.rejects(blobs.exclusive(hash, never), { code: 'unavailable', message: /does not answer/ });
		await assert.rejects(blobs.withFile(hash, never), (error) => shortageOf(error) !== null);
	});
});
