import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { AppError, newId } from '../../../src/base/index.ts';
import { openPostgresStore } from '../../../src/store/postgres/index.ts';
import { startCuttableProxy } from '../../support/cuttable-proxy.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';

suite('a reader whose connections to the database are lost', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
		await server.database('lost');
	});
	after(() => server[Symbol.asyncDispose]());

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
