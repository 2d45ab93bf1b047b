import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import test from 'node:test';
import Database from 'better-sqlite3';
import { databaseFile, SCHEMA_VERSION } from '../../src/store/index.ts';
import { runProgram } from '../support/run-command.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { createRestartableServer } from './restartable-server.ts';

test('a rebuild repairs figures and an inbox that are wrong, and keeps those that cannot be counted again', async (t) => {
	const restartable = await createRestartableServer(t);
	const first = await restartable.start();
	const assistant = await first.call('POST', '/api/v1/assistants', { name: 'Guide' });
	const deployment = await first.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
	for (let at = 0; at < 5; at++) {
		const message = { deployment_id: deployment.body.id, content: `Where is parcel ${at}?` };
		assert.equal((await first.call('POST', '/api/v1/messages', message)).status, 201);
	}
	const read = async (server: ServerProcess) => {
		const { total, is_current } = (await server.call('GET', '/api/v1/stats')).body;
		const list = (await server.call('GET', '/api/v1/inbox?search=parcel')).body.data;
		return { total, is_current, list };
	};
	await until('all events are counted', async () => (await read(first)).is_current);
	const right = await read(first);
	assert.deepEqual([right.total.messages.visitor, right.list.length, right.is_current], [5, 5, true]);
	assert.equal((await runProgram(restartable.dataDir, ['rebuild'])).code, 1, 'not beside a running server');
	await first.stop();

	const db = new Database(databaseFile(restartable.dataDir));
	// Figures of a day whose events are gone.
	db.exec(`UPDATE statistics_state SET complete_since = 86400000;
		INSERT INTO figures SELECT workspace_id, series, 0, figure, key, deployment_id, assistant_id, 7, 0
		FROM figures WHERE series = 'day' AND figure = 'conversations';
		UPDATE figures SET logged = logged + 3 WHERE start > 0; DELETE FROM inbox_rows`);
	db.close();
	const done = await runProgram(restartable.dataDir, ['rebuild']);
	assert.equal(done.code, 0, done.err);
	await using second = await restartable.start();
	await until('figures and inbox are as before', async () => {
		try {
			assert.deepEqual(await read(second), right);
			return true;
		} catch {
			return false;
		}
	});
	const later = new Database(databaseFile(restartable.dataDir), { readonly: true });
	assert.equal(later.prepare('SELECT sum(logged) FROM figures WHERE start = 0').pluck().get(), 7);
	later.close();
	await second.stop();
});

test('commands that need the server stopped refuse a database of an older schema and leave it as it is', async (t) => {
	const restartable = await createRestartableServer(t);
	await (await restartable.start()).stop();
	const db = new Database(databaseFile(restartable.dataDir));
	db.pragma(`user_version = ${SCHEMA_VERSION - 1}`);
	for (const args of [['rebuild'], ['secrets', 'reset', '--yes'], ['keys', 'create']]) {
		const { code, out, err } = await runProgram(restartable.dataDir, args);
		assert.deepEqual([code, out], [1, ''], err);
		assert.match(err, /has schema version \d+, this command knows \d+\. .* or start the server of this one first\.$/m);
	}
	assert.equal(db.pragma('user_version', { simple: true }), SCHEMA_VERSION - 1);
	db.close();
	const copies = (await readdir(restartable.dataDir)).filter((name) => name.startsWith('parley-schema'));
	assert.deepEqual(copies, [], 'nothing began to migrate it');
});
