import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { createApiKey } from '../../src/access/index.ts';
import { sleep } from '../../src/base/index.ts';
import { SCHEMA_VERSION } from '../../src/store/postgres/schema/migrations.ts';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { eventsOf } from '../support/event-stream.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { type Program, type ServerProcess, startServer } from '../support/server-process.ts';
import { makeVersion } from '../support/server-version.ts';
import { until } from '../support/until.ts';

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
const NODES = 3;
const LANES = 6;
/** Messages of each lane that must be answered after the last node was replaced. */
const MESSAGES_AFTER = 3;
/** The position before all events. */
const FROM_THE_START = '0.0';

suite('an upgrade of a cluster, one node after the other', { skip: skipWithoutPostgres }, () => {
	const key = createApiKey();
	let postgres: PostgresServer;
	before(async () => {
		postgres = await startPostgres();
	});
	after(() => postgres[Symbol.asyncDispose]());

	/** Starts a node. @param program absent: the version under test */
	async function startNode(database: string, program?: Program): Promise<ServerProcess> {
		// The program needs a host in the URL. The one of its query counts.
		const url = (await postgres.database(database)).replace('@/', '@localhost/');
		const env = { PARLEY_DATABASE_URL: url, PARLEY_SECRET_KEY: SECRET_KEY };
		return startServer({ key, env, ...(program && { program }) });
	}

	async function query(database: string, sql: string) {
		const client = new pg.Client(await postgres.database(database));
		await client.connect();
		try {
			return (await client.query(sql)).rows;
		} finally {
			await client.end();
		}
	}

	test('refuses no request and loses no event under load', async (t) => {
		await using present = await makeVersion(0);
		await using later = await makeVersion(1);
		await using balancer = await startBalancer();
		const nodes: ServerProcess[] = [];
		t.after(async () => {
			for (const node of nodes) await node[Symbol.asyncDispose]();
		});
		for (let n = 0; n < NODES; n++) nodes.push(await startNode('rolling', present.program));
		for (const node of nodes) await balancer.add(node.port);
		const load = new Load(balancer, key, await deploy(nodes[0] as ServerProcess));
		t.after(() => load.end());
		load.start();
		await load.untilAnswered(1);

		for (const node of nodes.slice()) {
			assert.deepEqual(await node.stop(), { code: 0, signal: null }, node.output());
			balancer.remove(node.port);
			const next = await startNode('rolling', later.program);
			nodes.push(next);
			await balancer.add(next.port);
		}
		await load.untilAnswered(MESSAGES_AFTER);
		await load.stop();

		assert.deepEqual(load.failures, []);
		const versions = await query('rolling', 'SELECT DISTINCT version FROM parley.nodes WHERE expires_at > now()');
		assert.deepEqual(versions, [{ version: later.version }]);
		const [schema] = await query('rolling', 'SELECT version FROM parley.schema_version');
		assert.equal(schema.version, SCHEMA_VERSION + 1);
		await load.check();
		t.diagnostic(`${load.answered} messages, ${load.streams} event streams`);
	});

	test('programs with other functions and the same tables work on one database, whichever starts last', async () => {
		await using present = await makeVersion(0);
		await using other = await makeVersion(0, { hasOtherFunctions: true });
		await using first = await startNode('functions', present.program);
		await using second = await startNode('functions', other.program);
		await using third = await startNode('functions', present.program);
		const deployment_id = await deploy(first);
		for (const node of [first, second, third]) {
			// Some of the conversations belong to each node.
			for (let n = 0; n < 4; n++) {
				const sent = await node.call('POST', '/api/v1/messages', { deployment_id, content: 'Hello' });
				assert.equal(sent.status, 201, JSON.stringify(sent.body));
			}
		}
	});

	test('a program two versions older does not go on, and does not start', async () => {
		await using later = await makeVersion(2);
		await using old = await startNode('older');
		await using newer = await startNode('older', later.program);
		const sentence = `The database has schema version ${SCHEMA_VERSION + 2}, this Parley can use ${SCHEMA_VERSION} and ${SCHEMA_VERSION + 1}. Start the newer Parley that wrote it.`;
		assert.deepEqual(await old.exited, { code: 1, signal: null });
		assert.ok(old.output().includes(sentence), old.output());
		await assert.rejects(startNode('older'), (error: Error) => {
			assert.ok(error.message.includes(`parley: ${sentence}`), error.message);
			return true;
		});
		assert.equal((await newer.call('GET', '/api/v1/workspace')).status, 200);
		const schemas = await query('older', "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'parley_%'");
		assert.equal(schemas.length, 1, 'the functions of the program that cannot go on are removed');
	});
});

async function deploy(node: ServerProcess): Promise<string> {
	const assistant = await node.call('POST', '/api/v1/assistants', { name: 'Shop', model: 'builtin/extractive' });
	const deployment = await node.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
	assert.equal(deployment.status, 201, JSON.stringify(deployment.body));
	return deployment.body.id;
}

/** A client. */
interface Lane {
	number: number;
	conversation?: string;
	/** What was sent and acknowledged, in order. */
	sent: string[];
	/** The contents of the visitor's messages among the events, in order. */
	followed: string[];
}

/** Clients of a cluster: each sends the messages of one conversation and follows its events. */
class Load {
	/** Requests that were refused or broke, in words. */
	readonly failures: string[] = [];
	streams = 0;
	readonly #balancer: Balancer;
	readonly #key: string;
	readonly #deployment: string;
	readonly #lanes = Array.from({ length: LANES }, (_, number): Lane => ({ number, sent: [], followed: [] }));
	readonly #end = new AbortController();
	#isSending = true;
	#sending: Promise<unknown> = Promise.resolve();
	readonly #followers: Promise<void>[] = [];

	constructor(balancer: Balancer, key: string, deployment: string) {
		this.#balancer = balancer;
		this.#key = key;
		this.#deployment = deployment;
	}

	get answered(): number {
		return this.#lanes.reduce((sum, { sent }) => sum + sent.length, 0);
	}

	start(): void {
		this.#sending = Promise.all(this.#lanes.map((lane) => this.#send(lane)));
	}

	/** Waits until each client has got this many further answers. */
	async untilAnswered(count: number): Promise<void> {
		const wanted = this.#lanes.map(({ sent }) => sent.length + count);
		await until('each client has got answers', () => {
			assert.deepEqual(this.failures, []);
			return this.#lanes.every(({ sent }, index) => sent.length >= (wanted[index] as number));
		});
	}

	/** Ends the clients once their followers have everything. */
	async stop(): Promise<void> {
		this.#isSending = false;
		await this.#sending;
		await until('the followers have all messages', () => {
			return this.#lanes.every(({ sent, followed }) => followed.length >= sent.length);
		});
		await this.end();
	}

	/** Ends the clients at once. */
	async end(): Promise<void> {
		this.#isSending = false;
		this.#end.abort();
		await this.#sending;
		await Promise.all(this.#followers);
	}

	/** Nothing that was acknowledged is lost, doubled or out of order; no event is skipped. */
	async check(): Promise<void> {
		for (const { conversation, sent, followed } of this.#lanes) {
			const path = `/api/v1/conversations/${conversation}/messages?limit=100`;
			const stored: { role: string; content: string; status: string }[] = [];
			for (let cursor = ''; ; ) {
				const response = await this.#request('GET', path + cursor);
				const { data, next_cursor } = (await response.json()) as { data: typeof stored; next_cursor: string | null };
				stored.push(...data);
				if (next_cursor === null) break;
				cursor = `&cursor=${next_cursor}`;
			}
			const questions = stored.filter(({ role }) => role === 'user').map(({ content }) => content);
			assert.deepEqual(questions, sent);
			assert.ok(stored.every(({ status }) => status === 'completed'));
			assert.equal(stored.length, 2 * sent.length);
			assert.deepEqual(followed, sent);
		}
	}

	async #send(lane: Lane): Promise<void> {
		for (let turn = 0; this.#isSending; turn++) {
			const content = `Client ${lane.number}, message ${turn}`;
			const body = { deployment_id: this.#deployment, conversation_id: lane.conversation, content };
			const headers: Record<string, string> = turn % 2 === 0 ? { 'idempotency-key': randomUUID() } : {};
			try {
				const response = await this.#request('POST', '/api/v1/messages', body, headers);
				const text = await response.text();
				if (response.status !== 201) this.failures.push(`${content}: ${response.status} ${text}`);
				else {
					lane.conversation = JSON.parse(text).conversation_id;
					lane.sent.push(content);
				}
			} catch (error) {
				this.failures.push(`${content}: ${error} ${(error as Error).cause}`);
			}
			if (this.failures.length > 0) break;
			if (turn === 0) this.#followers.push(this.#follow(lane));
			await sleep(50, this.#end.signal);
		}
	}

	/** Follows the events of a conversation, and resumes after the last one where the stream ends. */
	async #follow(lane: Lane): Promise<void> {
		let position = FROM_THE_START;
		while (!this.#end.signal.aborted) {
			const headers = { 'last-event-id': position };
			try {
				const path = `/api/v1/conversations/${lane.conversation}/events`;
				const response = await this.#request('GET', path, undefined, headers, this.#end.signal);
				this.streams++;
				if (response.status !== 200) {
					this.failures.push(`events: ${response.status} ${await response.text()}`);
					return;
				}
				for await (const { id, event, data } of eventsOf(response)) {
					position = id ?? position;
					if (event === 'message.created' && data.message?.role === 'user') lane.followed.push(data.message.content);
				}
			} catch {
				// Streams end with their node. Those that follow begin where they ended.
			}
			await sleep(20, this.#end.signal);
		}
	}

	#request(method: string, path: string, body?: object, headers = {}, signal?: AbortSignal): Promise<Response> {
		return fetch(this.#balancer.url + path, {
			method,
			headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...headers },
			...(body && { body: JSON.stringify(body) }),
			...(signal && { signal }),
		});
	}
}
