import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { createFirstWorkspace, loadSecretKeyOfCluster } from '../../src/access/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/index.ts';
import { conversation, document, event, message, webhook } from '../store/samples.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { databaseUrl, type Finished, runInProcess } from './run-in-process.ts';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64');
const LEASE_MS = 600_000;

suite('commands on PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	/** A node that has started on a database, and commands on that database. */
	async function startNode(name: string) {
		const url = await databaseUrl(server, name);
		const node = await openPostgresStore({ url, address: '10.0.0.7:9090', firstLeaseMs: LEASE_MS });
		await loadSecretKeyOfCluster(node, KEY, Date.now());
		await createFirstWorkspace(node, systemClock, undefined);
		const env = { PARLEY_DATABASE_URL: url, PARLEY_SECRET_KEY: KEY };
		const run = (...args: string[]) => runInProcess(env, ...args);
		return { url, node, env, run, [Symbol.asyncDispose]: () => node[Symbol.asyncDispose]() };
	}

	test('keys, users and workspaces are made and listed beside a running server', async () => {
		await using cluster = await startNode('beside');
		const { node, run } = cluster;
		const made = succeeded(await run('keys', 'create', '--name', 'Nightly', '--scope', 'assistants:read'));
		const hash = createHash('sha256')
			.update(made.out[0] as string)
			.digest('hex');
		const found = await node.access.apiKeyByHash(hash);
		assert.equal(found?.name, 'Nightly');
		assert.match(succeeded(await run('keys', 'list')).out.join('\n'), /Nightly/);
		succeeded(await run('keys', 'revoke', found.id));
		assert.equal(await node.access.apiKeyByHash(hash), undefined);

		const link = succeeded(await run('users', 'create', 'ada@example.com')).out[0] as string;
		assert.match(link, /^http.*set-password#/);
		assert.match(succeeded(await run('users', 'reset-password', 'ada@example.com')).out[0] as string, /^http/);
		assert.match(succeeded(await run('users', 'list')).out.join('\n'), /ada@example\.com/);
		const [workspace = ''] = succeeded(await run('workspaces', 'create', 'Second')).out;
		succeeded(await run('workspaces', 'set-plan', workspace, 'pro'));
		assert.equal((await node.get('workspaces', workspace))?.plan, 'pro');
	});

	test('a command takes no shard, is no node, and ends no lease', async () => {
		await using cluster = await startNode('no_node');
		await cluster.node.placement.renew(LEASE_MS);
		await using tool = await openPostgresStore({ url: cluster.url, role: 'tool' });
		const view = await cluster.node.placement.renew(LEASE_MS);
		assert.deepEqual([view.nodes.length, view.surplus], [1, 0]);
		assert.ok(view.shards.every(({ owner }) => owner === cluster.node.fence.owner));
		await assert.rejects(tool.placement.renew(LEASE_MS), /other nodes have removed it/);
	});

	test('a command with another secret key than the database is refused', async () => {
		await using cluster = await startNode('other_key');
		const { problem } = await runInProcess({ ...cluster.env, PARLEY_SECRET_KEY: OTHER_KEY }, 'keys', 'list');
		assert.match(problem ?? '', /^PARLEY_SECRET_KEY is not the key with which the secrets in the PostgreSQL database/);
	});

	test('commands refuse a database that is empty, does not answer, or has another version', async () => {
		const env = { PARLEY_SECRET_KEY: KEY };
		const empty = { ...env, PARLEY_DATABASE_URL: await databaseUrl(server, 'empty') };
		assert.match((await runInProcess(empty, 'keys', 'list')).problem ?? '', /start a node on it once/);
		const gone = { ...env, PARLEY_DATABASE_URL: 'postgres://parley@localhost/none?host=/no/such/folder' };
		assert.match((await runInProcess(gone, 'keys', 'list')).problem ?? '', /^The PostgreSQL database cannot be used: /);
		await using cluster = await startNode('newer');
		await changeDatabase(cluster.url, 'UPDATE parley.schema_version SET version = version + 2');
		assert.match(
			(await cluster.run('keys', 'list')).problem ?? '',
			/^The nodes on this database run another version of Parley: /,
		);
	});

	test('backups, repairs and their commands are refused with a sentence that names pg_dump', async () => {
		const env = { PARLEY_DATABASE_URL: await databaseUrl(server, 'no_backup'), PARLEY_SECRET_KEY: KEY };
		for (const args of [
			['backup', 'b.tar'],
			['restore', 'b.tar'],
			['verify', 'b.tar'],
			['database', 'repair'],
		]) {
			const { problem, out } = await runInProcess(env, ...args);
			assert.match(
				problem ?? '',
				new RegExp(`^"parley ${args.filter((word) => word !== 'b.tar').join(' ')}".*pg_dump`),
			);
			assert.deepEqual(out, []);
		}
	});

	test('a rebuild fills the inbox and the statistics beside a running server', async () => {
		await using cluster = await startNode('rebuild');
		const { node, run } = cluster;
		const talk = conversation({ message_count: 1 });
		const question = message({ conversation_id: talk.id, role: 'user', content: 'A pretzel, please.' });
		await node.commit({
			write: [
				{ op: 'insert', kind: 'conversations', record: talk },
				{ op: 'insert', kind: 'messages', record: question },
			],
			events: [{ ...event(talk.workspace_id, 'message.created', { id: question.id }), subject: talk.id }],
		});
		succeeded(await run('rebuild'));
		const end = await node.events.lastSeq();
		assert.deepEqual(await node.inbox.progress(), { seq: end, isFilled: true });
		assert.equal(await node.statistics.position(), end);
	});

	test('secrets are reset to another key when no server runs', async () => {
		const cluster = await startNode('reset');
		const { node, env } = cluster;
		await node.commit({ write: [{ op: 'insert', kind: 'webhooks', record: webhook() }] });
		const other = { ...env, PARLEY_SECRET_KEY: OTHER_KEY };
		assert.match((await runInProcess(other, 'secrets', 'reset')).problem ?? '', /^Nothing was changed\./);
		assert.match((await runInProcess(other, 'secrets', 'reset', '--yes')).problem ?? '', /^A node runs on the/);
		await cluster[Symbol.asyncDispose]();
		const { out, problem } = await runInProcess(other, 'secrets', 'reset', '--yes');
		assert.equal(problem, null);
		assert.match(out.join('\n'), /webhook/);
		succeeded(await runInProcess(other, 'keys', 'list'));
		assert.match((await runInProcess(env, 'keys', 'list')).problem ?? '', /is not the key/);
	});

	test('of two servers that start at once on an empty database, one decides on the key', async () => {
		const url = await server.database('two_keys');
		const nodes: PostgresStore[] = await Promise.all([openPostgresStore({ url }), openPostgresStore({ url })]);
		try {
			const same = await Promise.all(nodes.map((node) => loadSecretKeyOfCluster(node, KEY, Date.now())));
			assert.deepEqual(
				same.map((key) => key.toString('base64')),
				[KEY, KEY],
			);
		} finally {
			await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
		}
		for (let round = 0; round < 10; round++) {
			const own = await server.database(`two_keys_${round}`);
			const pair: PostgresStore[] = await Promise.all([
				openPostgresStore({ url: own }),
				openPostgresStore({ url: own }),
			]);
			const ends = await Promise.allSettled(
				pair.map((node, at) => loadSecretKeyOfCluster(node, at === 0 ? KEY : OTHER_KEY, Date.now())),
			);
			await Promise.all(pair.map((node) => node[Symbol.asyncDispose]()));
			const refused = ends.filter((end) => end.status === 'rejected');
			assert.equal(refused.length, 1);
			assert.match(String(refused[0]?.reason), /is not the key/);
		}
	});

	test('the doctor checks PostgreSQL and the secret key', async () => {
		const none = { PARLEY_DATABASE_URL: await databaseUrl(server, 'doctor_empty'), PARLEY_SECRET_KEY: KEY };
		assert.match(
			(await runInProcess(none, 'doctor')).out.join('\n'),
			/^FAILED {2}schema +There is nothing of Parley .+: start a node on it once\.$/m,
		);
		const gone = { ...none, PARLEY_DATABASE_URL: 'postgres://parley@localhost/none?host=/no/such/folder' };
		assert.match(
			(await runInProcess(gone, 'doctor')).out.join('\n'),
			/^FAILED {2}database +The PostgreSQL database cannot be used: .+\. Start PostgreSQL, or correct PARLEY_DATABASE_URL\.$/m,
		);
		await using cluster = await startNode('doctor');
		const text = succeeded(await cluster.run('doctor')).out.join('\n');
		for (const line of [
			/^ok {2}database +PostgreSQL \d+\.\d+.* answers\. The database has [\d.]+ MiB\.$/m,
			/^ok {2}commits +Commits are on disk before they are acknowledged \(synchronous_commit is on\)\.$/m,
			/^ok {2}schema +Version \d+, the current one\.$/m,
			/^ok {2}nodes +1 node runs\./m,
			/^ok {2}files +Uploaded: 0, with 0 bytes\.$/m,
			/^ok {2}secret key +It decrypts everything that is encrypted\.$/m,
			/^ok {2}default model /m,
		]) {
			assert.match(text, line);
		}
		assert.doesNotMatch(text, /disk {2}|data folder|backups/);
		await changeDatabase(cluster.url, 'ALTER DATABASE doctor SET synchronous_commit = off');
		assert.match(
			(await cluster.run('doctor')).out.join('\n'),
			/^FAILED {2}commits +Commits are acknowledged before .+\. Set synchronous_commit to on\.$/m,
		);
		const other = await runInProcess({ ...cluster.env, PARLEY_SECRET_KEY: OTHER_KEY }, 'doctor');
		assert.match(other.out.join('\n'), /^FAILED {2}secret key +PARLEY_SECRET_KEY is not the key/m);
		const record = document({ workspace_id: 'ws_1', blob: 'a'.repeat(64) });
		await cluster.node.commit({ write: [{ op: 'insert', kind: 'documents', record }] });
		assert.match(
			(await cluster.run('doctor')).out.join('\n'),
			/^FAILED {2}files +Uploaded: 0, .* Missing: 1, for example a{64}\. Upload their documents again\.$/m,
		);
		await changeDatabase(cluster.url, 'UPDATE parley.schema_version SET version = version + 2');
		assert.match(
			(await cluster.run('doctor')).out.join('\n'),
			/^FAILED {2}database +The nodes on this database run another version .+ Run the command with the version of the nodes\.$/m,
		);
	});

	test('the status of the cluster shows nodes, shards, jobs and projections', async () => {
		await using cluster = await startNode('status');
		const { node, run } = cluster;
		await node.placement.renew(LEASE_MS);
		const job = { id: 'job_1', kind: 'ingest', ref: 'doc_1', group: 'ws_1', due_at: Date.now() - 60_000 };
		await node.commit({ jobs: [{ op: 'enqueue', job }] });
		const { out } = succeeded(await run('cluster', 'status'));
		const text = out.join('\n');
		assert.match(text, /^NODE +ADDRESS +VERSION +STATE +LEASE +SHARDS$/m);
		assert.match(
			text,
			new RegExp(`^${node.fence.owner} +10\\.0\\.0\\.7:9090 +[\\d.]+ +alive +\\d+\\.\\d s left +256$`, 'm'),
		);
		assert.match(text, /^256 +0 +1 +1$/m);
		assert.match(text, /^ingest +1 +1 +6\d\.\d s ago$/m);
		assert.match(text, /^inbox +0 +0$/m);
		const [line = ''] = succeeded(await run('cluster', 'status', '--json')).out;
		const status = JSON.parse(line);
		assert.deepEqual([status.nodes.length, status.nodes[0].shards, status.shards.free], [1, 256, []]);
	});

	test('the status fails without a server, and where shards have none for longer than a lease', async () => {
		const cluster = await startNode('unserved');
		const { problem } = await cluster.run('cluster', 'status');
		assert.match(problem ?? '', /^256 of 256 shards have had no node for longer than a lease\.$/);
		await cluster[Symbol.asyncDispose]();
		assert.equal((await cluster.run('cluster', 'status')).problem, 'No node runs on the PostgreSQL database.');
		const embedded = await runInProcess({}, 'cluster', 'status');
		assert.match(embedded.problem ?? '', /^The database is embedded/);
	});
});

async function changeDatabase(url: string, statement: string): Promise<void> {
	const client = new pg.Client(url);
	await client.connect();
	await client.query(statement);
	await client.end();
}

function succeeded(finished: Finished): Finished {
	assert.equal(finished.problem, null, finished.err.join('\n'));
	return finished;
}
