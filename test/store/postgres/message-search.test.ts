import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import fc from 'fast-check';
import { newId } from '../../../src/base/index.ts';
import type { SearchTerm, Store } from '../../../src/store/index.ts';
import { openPostgresStore } from '../../../src/store/postgres/index.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';
import { openTemporaryStore } from '../../support/temporary-store.ts';
import { projectInbox } from '../contract/inbox.ts';
import { addTalks, talk } from '../contract/talks.ts';

const AT = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;

const PARTS = ['a', 'ab', 'B', 'é', 'e\u0301', 'E', 'ß', 'ς', 'Σ', '品', '返', 'の', '한', 'จั', 'ด', '1', '12'];
const SEPARATORS = ['', '', ' ', '-', '. ', '\n', "'", '_', '(', '’', '☎', '"'];
const text = (maxLength: number) =>
	fc
		.array(fc.tuple(fc.constantFrom(...PARTS), fc.constantFrom(...SEPARATORS)), { minLength: 1, maxLength })
		.map((parts) => parts.flat().join(''));
const term = fc.record({ text: text(3), isPrefix: fc.boolean() });

suite('the search of messages on PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let store: Store;
	before(async () => {
		server = await startPostgres();
		store = await openPostgresStore({ url: await server.database('search') });
	});
	after(async () => {
		await store[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
	});

	test('finds what the embedded store finds', async () => {
		const stores = [store, await openTemporaryStore()];
		const workspaceId = newId('workspace');
		const talks = fc
			.sample(text(12), { numRuns: 300, seed: 1 })
			.map((content, n) => talk(workspaceId, AT - n * HOUR, { question: { content }, reply: { content: '' } }));
		for (const each of stores) {
			await addTalks(each, talks);
			await projectInbox(each);
		}
		let hits = 0;
		const find = async (each: Store, terms: SearchTerm[]) => {
			const filter = { workspaceId, status: 'active' } as const;
			const { rows } = await each.inbox.search(filter, terms, { id: 'user_1', readBefore: 0 }, undefined, 500);
			hits += rows.length;
			return rows.map(({ message_id }) => talks.findIndex(({ question }) => question.id === message_id));
		};
		for (const terms of fc.sample(fc.array(term, { minLength: 1, maxLength: 3 }), { numRuns: 200, seed: 2 })) {
			const [postgres, sqlite] = await Promise.all(stores.map((each) => find(each, terms)));
			assert.deepEqual(postgres, sqlite, JSON.stringify(terms));
		}
		assert.ok(hits > 500, `${hits} hits`);
	});
});
