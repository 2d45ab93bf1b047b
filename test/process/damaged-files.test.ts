import assert from 'node:assert/strict';
import { open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { runProgram, temporaryFolder } from '../support/run-command.ts';
import { createRestartableServer } from './restartable-server.ts';

const CREATES = 12;

test('a server whose database is damaged refuses to start with a sentence', async (t) => {
	const { dataDir, start } = await createRestartableServer(t);
	{
		await using server = await start();
		assert.deepEqual(await server.stop(), { code: 0, signal: null });
	}
	const path = join(dataDir, 'parley.db');
	const { size } = await stat(path);
	for (const [from, length] of [
		[4_096, size - 4_096],
		[0, 4_096],
	] as const) {
		const file = await open(path, 'r+');
		await file.write(Buffer.alloc(length, 0x5a), 0, length, from);
		await file.close();
		const { code, out, err } = await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0' });
		assert.deepEqual([code, out], [1, '']);
		assert.match(
			err,
			/^parley: The database in .+ is damaged: .+\. Restore a backup; "parley doctor" shows what is damaged\. \(SQLITE_(CORRUPT|NOTADB)\)\n$/,
		);
	}
});

test('a server whose write-ahead log is damaged refuses to start until it is repaired, and then has the state before the damage', async (t) => {
	const { dataDir, start } = await createRestartableServer(t);
	{
		await using server = await start();
		assert.deepEqual(await server.stop(), { code: 0, signal: null });
	}
	const names = Array.from({ length: CREATES }, (_, at) => `Assistant ${at}`);
	{
		await using server = await start();
		for (const name of names) {
			assert.equal((await server.call('POST', '/api/v1/assistants', { name })).status, 201);
		}
		await server.kill();
	}
	const log = join(dataDir, 'parley.db-wal');
	const { size } = await stat(log);
	const middle = Math.floor(size / 2);
	const file = await open(log, 'r+');
	await file.write(Buffer.from('damage'), 0, 6, middle);
	await file.close();

	const { code, out } = await runProgram(dataDir, ['doctor']);
	assert.equal(code, 1);
	assert.match(
		out,
		/^FAILED +database .*its write-ahead log is damaged at frame \d+, and \d+ commits from there on cannot be read.*\. Stop the server\. Restore a backup, or run "parley database repair"\.$/m,
	);
	const damaged = await readFile(log);
	const damage =
		/^parley: The database in .+ is damaged: its write-ahead log is damaged at frame \d+, and \d+ commits from there on cannot be read\. Restore a backup, or run "parley database repair" to continue without them\.\n$/;
	for (const [command, env] of [
		[['serve'], { PARLEY_PORT: '0' }],
		[['keys', 'list'], {}],
		[['backup', join(await temporaryFolder(t), 'copy.parley')], {}],
	] as const) {
		const refused = await runProgram(dataDir, [...command], env);
		assert.deepEqual([refused.code, refused.out], [1, ''], command.join(' '));
		assert.match(refused.err, damage);
	}
	assert.deepEqual(await readFile(log), damaged, 'nothing was changed');

	const repaired = await runProgram(dataDir, ['database', 'repair']);
	const [, commits, copy] =
		/^(\d+) commits from frame \d+ on were left out\. The damaged log is kept in (.+)\.\n$/.exec(repaired.out) ?? [];
	assert.equal(repaired.code, 0);
	assert.deepEqual(await readFile(copy ?? assert.fail(repaired.out)), damaged);
	assert.match(
		(await runProgram(dataDir, ['database', 'repair'])).out,
		/^The write-ahead log is sound\. Nothing was changed\.\n/,
	);
	await using server = await start();
	const { body } = await server.call('GET', '/api/v1/assistants?limit=100');
	const found = body.data.map(({ name }: { name: string }) => name).sort();
	assert.ok(Number(commits) >= CREATES - found.length && found.length < CREATES, `${commits}, ${found.length}`);
	assert.match((await runProgram(dataDir, ['database', 'repair'])).err, /Another Parley is running on /);
	assert.deepEqual(found, names.slice(0, found.length).sort());
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
	assert.match((await runProgram(dataDir, ['doctor'])).out, /^ok +database /m);
});

test('a log whose beginning was lost makes no new, empty server', async (t) => {
	const { dataDir, start } = await createRestartableServer(t);
	{
		await using server = await start();
		assert.equal((await server.call('POST', '/api/v1/assistants', { name: 'Guide' })).status, 201);
		await server.kill();
	}
	const log = join(dataDir, 'parley.db-wal');
	const whole = await readFile(log);
	for (const damage of [Buffer.alloc(32), Buffer.alloc(65_536), Buffer.alloc(whole.length)]) {
		await writeFile(log, Buffer.concat([damage, whole.subarray(damage.length)]));
		const { code, err } = await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0' });
		assert.equal(code, 1);
		assert.match(
			err,
			/is damaged: the header of its write-ahead log is damaged, and the commits of the log cannot be read[.;]/,
		);
	}
	await writeFile(log, whole);
	await truncate(log, 20);
	assert.match((await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0' })).err, /the header of its write-ahead log/);
	assert.match((await runProgram(dataDir, ['backup', `${dataDir}/copy`])).err, /the header of its write-ahead log/);
	await writeFile(log, whole);
	await using server = await start();
	const { body } = await server.call('GET', '/api/v1/assistants');
	assert.deepEqual(
		body.data.map(({ name }: { name: string }) => name),
		['Guide'],
	);
});

test('a server whose database has vanished does not start beside its uploads', async (t) => {
	const { dataDir, start } = await createRestartableServer(t);
	{
		await using server = await start();
		assert.deepEqual(await server.stop(), { code: 0, signal: null });
	}
	const path = join(dataDir, 'parley.db');
	const lost =
		/^parley: The database in .+ is damaged: it is empty, although a server has run there\. Bring back parley\.db and parley\.db-wal, or restore a backup\. For a new start, empty the folder\.\n$/;
	const database = await readFile(path);
	await rm(path);
	assert.match((await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0' })).err, lost);
	await assert.rejects(stat(path), { code: 'ENOENT' });
	await writeFile(path, '');
	assert.match((await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0' })).err, lost);
	assert.match(
		(await runProgram(dataDir, ['doctor'])).out,
		/^FAILED +database .*it is empty, although a server has run there/m,
	);
	await rm(`${path}-wal`, { force: true });
	await writeFile(path, database);
	await using server = await start();
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});
