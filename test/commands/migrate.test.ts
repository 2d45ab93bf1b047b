import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import { changeDatabase, fillDataFolder } from '../store/import/full-database.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { databaseUrl, runInProcess } from './run-in-process.ts';

suite('parley migrate', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	const temporaryFolder = async (t: TestContext) => {
		const dataDir = await mkdtemp(join(tmpdir(), 'parley-migrate-'));
		t.after(() => rm(dataDir, { recursive: true, force: true }));
		return dataDir;
	};

	test('prints what both databases have, and says how servers are started', async (t) => {
		const dataDir = await temporaryFolder(t);
		await fillDataFolder(dataDir, 3);
		const url = await databaseUrl(server, 'whole');
		const env = { PARLEY_DATA_DIR: dataDir };
		const { out, err, problem } = await runInProcess(env, 'migrate', '--to', url);
		assert.equal(problem, null);
		assert.match(out[0] ?? '', /^PART +EMBEDDED +CHECKSUM +POSTGRESQL +CHECKSUM$/);
		assert.match(out.join('\n'), /^messages +6 +([0-9a-f]{16}) +6 +\1 +equal$/m);
		assert.ok(out.slice(1).every((line) => line.endsWith('equal')));
		assert.match(err.at(-1) ?? '', /PARLEY_DATABASE_URL, and with PARLEY_SECRET_KEY .*secret\.key/);
		const again = await runInProcess(env, 'migrate', '--to', url);
		assert.equal(again.problem, null);
		assert.match(again.out[0] ?? '', /^Copied completely at 2\d{3}-.* Nothing was changed\.$/);

		changeDatabase(dataDir, 'UPDATE fences SET epoch = epoch + 1');
		const changed = await runInProcess(env, 'migrate', '--to', url);
		assert.match(changed.problem ?? '', /has data of its own/);
	});

	test('refuses a URL of another kind, a folder without a database, and a database that does not answer', async (t) => {
		const dataDir = await temporaryFolder(t);
		const env = { PARLEY_DATA_DIR: dataDir };
		const url = await databaseUrl(server, 'unused');
		for (const args of [[], ['--to', 'mysql://host/name']]) {
			assert.match(
				(await runInProcess(env, 'migrate', ...args)).problem ?? '',
				/^--to is the URL of a PostgreSQL database/,
			);
		}
		assert.match((await runInProcess(env, 'migrate', '--to', url)).problem ?? '', /^There is no workspace in /);
		await fillDataFolder(dataDir, 3);
		const gone = 'postgres://parley@localhost/none?host=/no/such/folder';
		const { problem } = await runInProcess(env, 'migrate', '--to', gone);
		assert.match(
			problem ?? '',
			/^The PostgreSQL database cannot be used: .* The same command goes on where this has ended\.$/,
		);
	});
});
