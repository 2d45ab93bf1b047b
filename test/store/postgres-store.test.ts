import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { newId } from '../../src/base/index.ts';
import type { Store } from '../../src/store/index.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/index.ts';
import { openSearchReader, type SearchReader } from '../../src/store/search/index.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { commitContract } from './contract/commits.ts';
import { deliveryContract } from './contract/deliveries.ts';
import { endUserContract } from './contract/end-users.ts';
import { erasureContract } from './contract/erasure.ts';
import { eventContract } from './contract/events.ts';
import { idempotencyContract } from './contract/idempotency.ts';
import { inboxContract } from './contract/inbox.ts';
import { inboxSearchContract } from './contract/inbox-search.ts';
import { jobContract } from './contract/jobs.ts';
import { lifeContract } from './contract/life.ts';
import { listContract } from './contract/lists.ts';
import { searchIndexContract } from './contract/search-index.ts';
import { searchReaderContract } from './contract/search-reader.ts';
import { sourceContract } from './contract/sources.ts';
import { spendingContract } from './contract/spending.ts';
import { statisticsContract } from './contract/statistics.ts';
import { unansweredContract } from './contract/unanswered.ts';
import { event, message } from './samples.ts';

suite('the store on PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let store: PostgresStore;
	let reader: SearchReader;
	before(async () => {
		server = await startPostgres();
		const url = await server.database('contract');
		store = await openPostgresStore({ url, firstLeaseMs: 3_600_000 });
		reader = await openSearchReader(url);
	});
	/** The database of a place is named by its hash. */
	const open = async (place: string): Promise<Store> =>
		openPostgresStore({
			url: await server.database(createHash('md5').update(place).digest('hex')),
			firstLeaseMs: 3_600_000,
		});

	commitContract(() => store);
	eventContract(() => store);
	jobContract(() => store);
	idempotencyContract(() => store);
	listContract(() => store);
	deliveryContract(open);
	erasureContract(() => store);
	sourceContract(() => store);
	endUserContract(() => store);
	lifeContract(open);
	spendingContract(
		() => store,
		async (perform) => {
			const { placement } = store;
			await placement.renew(0);
			await perform();
			await placement.renew(3_600_000);
		},
	);
	inboxContract(() => store);
	inboxSearchContract(() => store);
	statisticsContract(() => store);
	unansweredContract(() => store);
	searchIndexContract(() => ({ store, reader }));
	searchReaderContract(() => ({ store, reader }));

	test('a text has the replacement character where PostgreSQL has none: for NUL and half a surrogate pair', async () => {
		const record = message({ conversation_id: newId('conversation'), content: 'a\0b\ud83d' });
		await store.commit({ write: [{ op: 'insert', kind: 'messages', record }] });
		assert.equal((await store.get('messages', record.id))?.content, 'a\ufffdb\ufffd');
		const stream = newId('conversation');
		const data = { message_id: record.id, text: 'a\0' };
		const logged = { ...event(stream), type: 'message.completed', data };
		await store.commit({ events: [logged] });
		assert.deepEqual((await store.events.after(stream, 0, 1))[0]?.data, { ...data, text: 'a\ufffd' });
		assert.ok(await store.conversations.closingEventSeq(stream, record.id));
	});

	test('the rows of what was erased are no longer in the tables', async () => {
		const record = message({ conversation_id: newId('conversation'), content: 'erased' });
		await store.commit({ write: [{ op: 'insert', kind: 'messages', record }] });
		await store.commit({ write: [{ op: 'remove', kind: 'messages', id: record.id }] });
		await store.overwriteErased();
		const client = new pg.Client(await server.database('contract'));
		await client.connect();
		const { rows } = await client.query(
			"SELECT n_dead_tup FROM pg_stat_all_tables WHERE schemaname = 'parley' AND relname = 'messages'",
		);
		await client.end();
		assert.deepEqual(rows, [{ n_dead_tup: '0' }]);
	});

	after(async () => {
		await reader[Symbol.asyncDispose]();
		await store[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
	});
});
