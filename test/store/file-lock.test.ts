import assert from 'node:assert/strict';
import { chown, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { lockDataFolder } from '../../src/store/index.ts';
import { BackupLockMonitor, lockForBackup } from '../../src/store/sqlite/file-lock.ts';
import { temporaryPlace } from './contract/life.ts';

test('a second server on a data folder is refused until the first has ended', async (t) => {
	const dataDir = await temporaryPlace(t);
	const first = lockDataFolder(dataDir);
	assert.throws(() => lockDataFolder(dataDir), { code: 'unavailable', message: /^Another Parley is running on / });
	first[Symbol.dispose]();
	lockDataFolder(dataDir)[Symbol.dispose]();
});

test('a server sees a backup from its beginning to its end, and never prevents one', async (t) => {
	const dataDir = await temporaryPlace(t);
	using monitor = new BackupLockMonitor(dataDir);
	assert.equal(monitor.isHeld(), false, 'none was ever made');
	for (let at = 0; at < 3; at++) {
		const lock = lockForBackup(dataDir);
		assert.deepEqual([monitor.isHeld(), monitor.isHeld()], [true, true]);
		lock[Symbol.dispose]();
		assert.deepEqual([monitor.isHeld(), monitor.isHeld()], [false, false]);
	}
});

test('a second backup of a data folder is refused while the first runs', async (t) => {
	const dataDir = await temporaryPlace(t);
	using _first = lockForBackup(dataDir, 0);
	assert.throws(() => lockForBackup(dataDir, 0), {
		code: 'unavailable',
		message: /^Another backup of .* is running\./,
	});
});

test('a lock that root takes belongs to the owner of the data folder, whose server could not lock it otherwise', {
	skip: process.getuid?.() !== 0 && 'only root can give files to others',
}, async (t) => {
	const dataDir = await temporaryPlace(t);
	await chown(dataDir, 65_534, 65_534);
	lockForBackup(dataDir)[Symbol.dispose]();
	assert.equal((await stat(join(dataDir, 'backup.lock'))).uid, 65_534);
});
