import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { newId } from '../../src/base/index.ts';
import { Metrics } from '../../src/metrics/index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { valuesOf } from '../metrics/values-of.ts';
import * as samples from '../store/samples.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const NOTHING = { actorCounts: { residents: 0, waiting: 0 } };

suite('the metrics of nodes on one PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	/** The store of a node with its metrics, and the types of the events that it has published. */
	async function openNode(url: string) {
		const store = await openPostgresStore({ url, firstLeaseMs: 3_600_000 });
		const published: string[] = [];
		store.onEvents((events) => published.push(...events.map(({ type }) => type)));
		const metrics = new Metrics('1');
		const http = { openStreams: 0, openConnections: 0 };
		const models = { unclosedCircuits: () => [] };
		metrics.observe({
			...{ store, http, models, conversations: NOTHING, deployments: NOTHING },
			...{ placement: null, backups: null },
		});
		return {
			...{ store, published },
			values: async (name: string) => valuesOf(await metrics.text(), name),
			[Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
		};
	}

	test('a message and a reply count at the node that has stored them, and at no other', async () => {
		const url = await server.database('replies');
		await using first = await openNode(url);
		await using second = await openNode(url);
		const stream = newId('workspace');
		const message = (author: string, rest: object) =>
			samples.event(stream, 'message.created', { author: { type: author }, ...rest });
		const reply = {
			...{ model: 'stand-in/small', status: 'completed', answered_by: 'model', first_token_ms: 200, duration_ms: 900 },
			usage: { input_tokens: 40, output_tokens: 9 },
		};
		await first.store.commit({ events: [message('visitor', {})] });
		await first.store.commit({ events: [message('model', reply)] });
		await until('the second node has read both from the log', () => second.published.length === 2);
		await second.store.commit({ events: [message('human', {})] });
		for (const { published } of [first, second])
			await until('the node has published all', () => published.length === 3);
		assert.deepEqual(await first.values('parley_messages_total'), { '{author="visitor"}': 1, '{author="model"}': 1 });
		assert.deepEqual(await second.values('parley_messages_total'), { '{author="human"}': 1 });
		assert.deepEqual(await first.values('parley_tokens_total'), {
			'{model="stand-in/small",direction="input"}': 40,
			'{model="stand-in/small",direction="output"}': 9,
		});
		for (const name of ['parley_replies_total', 'parley_tokens_total', 'parley_reply_first_token_seconds_count'])
			assert.deepEqual(await second.values(name), {}, name);
		assert.deepEqual(await first.values('parley_reply_duration_seconds_count'), { '{model="stand-in/small"}': 1 });
	});
});
