import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { AppError, newId, sleep } from '../../../src/base/index.ts';
import { openPostgresStore } from '../../../src/store/postgres/index.ts';
import type { WriterLimits } from '../../../src/store/postgres/writer-session.ts';
import { startCuttableProxy } from '../../support/cuttable-proxy.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';
import { mountSmallDisk, skipWithoutSmallDisk } from '../../support/small-disk.ts';
import { until } from '../../support/until.ts';
import { message } from '../samples.ts';

/** A busy machine must connect and commit in this time. */
const WAIT_MS = 5_000;
const withoutSmallDisk = await skipWithoutSmallDisk();

suite('lost connections to PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
		await server.database('lost');
	});
	after(() => server[Symbol.asyncDispose]());

	suite('a reader whose connections to the database are lost', () => {
		test('reads on a new connection', async () => {
			await using proxy = await startCuttableProxy(server.socket);
			await using store = await openPostgresStore({ url: `postgres://parley@127.0.0.1:${proxy.port}/lost` });
			const ids = Array.from({ length: 20 }, () => newId('conversation'));
			const read = () => Promise.all(ids.map((id) => store.get('conversations', id)));
			const cut = read();
			proxy.cut();
			proxy.restore();
			assert.deepEqual(new Set(await cut), new Set([undefined]));
			await server.restart('crash');
			assert.deepEqual(new Set(await read()), new Set([undefined]));
		});

		test('says that the database does not answer while none can be made', async () => {
			await using proxy = await startCuttableProxy(server.socket);
			await using store = await openPostgresStore({ url: `postgres://parley@127.0.0.1:${proxy.port}/lost` });
			proxy.cut();
			await assert.rejects(
				store.get('conversations', newId('conversation')),
				(error) => error instanceof AppError && error.code === 'unavailable',
			);
			proxy.restore();
			assert.equal(await store.get('conversations', newId('conversation')), undefined);
		});
	});

	suite('a writer whose connection to the database is lost', () => {
		const openThrough = (port: number, limits: Partial<WriterLimits>) =>
			openPostgresStore({ url: `postgres://parley@127.0.0.1:${port}/lost`, limits });
		const insert = (content: string) => {
			const record = message({ conversation_id: newId('conversation'), content });
			return { id: record.id, commit: { write: [{ op: 'insert' as const, kind: 'messages' as const, record }] } };
		};

		test('carries a commit out on another connection where the first one is silent', async () => {
			await using proxy = await startCuttableProxy(server.socket);
			await using store = await openThrough(proxy.port, { silentMs: 1_000, waitMs: 60_000 });
			assert.equal((await store.commit(insert('before the cut').commit)).outcome, 'committed');
			const silent = insert('in silence');
			proxy.holdOne('in silence');
			const sent = store.commit(silent.commit);
			await until('the request is held', () => proxy.isHolding());
			assert.equal((await sent).outcome, 'committed');
			assert.equal((await store.get('messages', silent.id))?.content, 'in silence');
			assert.equal((await store.commit(insert('after it').commit)).outcome, 'committed');
		});

		test('refuses changes that wait for long behind another without an answer', async () => {
			await using proxy = await startCuttableProxy(server.socket);
			await using store = await openThrough(proxy.port, { silentMs: 60_000, waitMs: WAIT_MS });
			assert.equal((await store.commit(insert('before the cut').commit)).outcome, 'committed');
			proxy.holdOne('in silence');
			const sent = store.commit(insert('in silence').commit);
			await until('the request is held', () => proxy.isHolding());
			const waiting = ['one', 'two'].map(insert);
			for (const result of await Promise.allSettled(waiting.map(({ commit }) => store.commit(commit)))) {
				assert.ok(result.status === 'rejected' && result.reason instanceof AppError, JSON.stringify(result));
			}
			proxy.release();
			assert.equal((await sent).outcome, 'committed');
			for (const { id } of waiting) assert.equal(await store.get('messages', id), undefined);
		});

		test('refuses a change whose answer was lost where it was not carried out, and never carries it out', async () => {
			await using proxy = await startCuttableProxy(server.socket);
			await using store = await openThrough(proxy.port, { waitMs: WAIT_MS });
			assert.equal((await store.commit(insert('before the cut').commit)).outcome, 'committed');
			const lost = insert('lost on the way');
			proxy.holdOne('lost on the way');
			const sent = store.commit(lost.commit);
			await until('the request is held', () => proxy.isHolding());
			proxy.cut();
			await sleep(WAIT_MS + 1_000);
			proxy.restore();
			await assert.rejects(sent, (error) => error instanceof AppError && error.code === 'unavailable');
			assert.equal((await store.commit(insert('after it').commit)).outcome, 'committed');
			assert.equal(await store.get('messages', lost.id), undefined);
		});

		test('refuses changes that could not be sent for long, and does not carry them out later', async () => {
			await using proxy = await startCuttableProxy(server.socket);
			await using store = await openThrough(proxy.port, { waitMs: WAIT_MS });
			assert.equal((await store.commit(insert('before the cut').commit)).outcome, 'committed');
			proxy.cut();
			await until('the connection is known to be lost', () => store.health.problem !== null);
			const waiting = ['one', 'two', 'three'].map(insert);
			const results = await Promise.allSettled(waiting.map(({ commit }) => store.commit(commit)));
			for (const result of results) {
				assert.ok(result.status === 'rejected' && result.reason instanceof AppError, JSON.stringify(result));
				assert.equal(result.reason.code, 'unavailable');
			}
			proxy.restore();
			await until('changes are stored again', async () => {
				const { status } = (await Promise.allSettled([store.commit(insert('later').commit)]))[0] as { status: string };
				return status === 'fulfilled';
			});
			for (const { id } of waiting) assert.equal(await store.get('messages', id), undefined);
		});

		test('is not ready while the disk of PostgreSQL is full', { skip: withoutSmallDisk }, async () => {
			await using disk = await mountSmallDisk(32);
			assert.ok(disk);
			await using other = await startPostgres();
			await using store = await openPostgresStore({ url: await other.database('full', disk.folder) });
			assert.equal((await store.commit(insert('before').commit)).outcome, 'committed');
			const makeSpace = await disk.fill();
			await until('a commit is refused', async () => {
				const [result] = await Promise.allSettled([store.commit(insert(randomBytes(50_000).toString('hex')).commit)]);
				return result?.status === 'rejected';
			});
			assert.equal(store.health.problem?.reason, 'database_full');
			assert.equal(store.isWritable(), false);
			await makeSpace();
			assert.equal((await store.commit(insert('after').commit)).outcome, 'committed');
			await until('it is ready some time after the last refusal', () => store.isWritable());
			assert.equal(store.health.problem, null);
		});
	});
});
