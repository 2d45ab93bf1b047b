import assert from 'node:assert/strict';
import { copyFile, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { inspectDatabase } from '../../src/store/index.ts';
import { findWalDamage } from '../../src/store/sqlite/wal-inspection.ts';
import { repairLog, requireSoundLog } from '../../src/store/sqlite/wal-repair.ts';
import { temporaryFolder } from '../support/run-command.ts';

const COMMITS = 10;
const HEADER = 32;
const FRAME = 24 + 4096;

/** A log as a kill leaves it: ten commits, each of one frame. */
async function loggedCommits(t: TestContext): Promise<string> {
	const folder = await temporaryFolder(t);
	const path = join(folder, 'parley.db');
	const db = new Database(path);
	db.pragma('journal_mode = WAL');
	db.exec('CREATE TABLE numbers (value)');
	db.pragma('wal_checkpoint(TRUNCATE)');
	for (let value = 0; value < COMMITS; value++) db.prepare('INSERT INTO numbers VALUES (?)').run(value);
	await copyFile(`${path}-wal`, `${path}.log`);
	await copyFile(path, `${path}.copy`);
	db.close();
	await copyFile(`${path}.log`, `${path}-wal`);
	await copyFile(`${path}.copy`, path);
	return path;
}

async function flip(path: string, position: number): Promise<void> {
	const file = await open(path, 'r+');
	const byte = Buffer.alloc(1);
	await file.read(byte, 0, 1, position);
	byte[0] = (byte[0] as number) ^ 0x10;
	await file.write(byte, 0, 1, position);
	await file.close();
}

test('finds a flipped bit in any part of a frame that later commits follow, and says how many they are', async (t) => {
	const path = await loggedCommits(t);
	const log = `${path}-wal`;
	assert.equal(findWalDamage(path), null);
	for (const position of [0, 5, 9, 20, 24, 2000, FRAME - 1]) {
		await copyFile(`${path}.log`, log);
		await flip(log, HEADER + 3 * FRAME + position);
		// A frame with another salt does not tell whether it ends a commit.
		const commits = position === 9 ? 6 : 7;
		assert.deepEqual(findWalDamage(path), { frame: 4, commits, isCopied: false }, `at ${position}`);
	}
});

test('a log that ends in a commit that was interrupted is sound, as are an empty and a missing log', async (t) => {
	const path = await loggedCommits(t);
	const log = `${path}-wal`;
	await flip(log, HEADER + (COMMITS - 1) * FRAME + 100);
	assert.equal(findWalDamage(path), null);
	await truncate(log, HEADER + 4 * FRAME + 1000);
	assert.equal(findWalDamage(path), null);
	await truncate(log, 0);
	assert.equal(findWalDamage(path), null);
	await rm(log);
	assert.equal(findWalDamage(path), null);
});

test('frames that failed commits have left behind the last commit are no damage', async (t) => {
	const path = await loggedCommits(t);
	const log = `${path}-wal`;
	/** The log after one more commit of many frames, the more the larger. */
	async function logWith(bytes: number): Promise<Buffer> {
		await copyFile(`${path}.copy`, path);
		await copyFile(`${path}.log`, log);
		const db = new Database(path);
		db.prepare('INSERT INTO numbers VALUES (?)').run(Buffer.alloc(bytes, bytes % 251));
		const written = await readFile(log);
		db.close();
		return written;
	}
	const [short, longer, longest] = [await logWith(10_000), await logWith(40_000), await logWith(90_000)];
	const left = Buffer.concat([short, longer.subarray(short.length), longest.subarray(longer.length)]);
	await writeFile(log, left);
	assert.equal(findWalDamage(path), null);
	await flip(log, HEADER + 3 * FRAME);
	assert.equal(findWalDamage(path)?.frame, 4);
});

test('frames of the log before its last start are no damage', async (t) => {
	const path = await loggedCommits(t);
	const db = new Database(path);
	assert.equal(db.prepare('SELECT count(*) FROM numbers').pluck().get(), COMMITS);
	db.pragma('wal_checkpoint(PASSIVE)');
	db.prepare('INSERT INTO numbers VALUES (?)').run(COMMITS);
	assert.equal(findWalDamage(path), null);
	db.close();
});

test('a damaged header of a log is found, and the inspection of the database names the damage', async (t) => {
	const path = await loggedCommits(t);
	await flip(`${path}-wal`, 17);
	assert.deepEqual(findWalDamage(path), { frame: 0, commits: 0, isCopied: false });
	await copyFile(`${path}.log`, `${path}-wal`);
	await flip(`${path}-wal`, HEADER + FRAME + 99);
	const [problem] = inspectDatabase(join(path, '..'))?.problems ?? [];
	assert.match(
		problem?.problem ?? '',
		/^its write-ahead log is damaged at frame 2, and \d commits from there on cannot be read/,
	);
});

test('a log is sound whose header was being replaced when the process ended: all of it is in the database', async (t) => {
	const path = join(await temporaryFolder(t), 'parley.db');
	const wal = `${path}-wal`;
	const db = new Database(path);
	db.pragma('journal_mode = WAL');
	db.exec('CREATE TABLE numbers (value)');
	for (let value = 0; value < COMMITS; value++) db.prepare('INSERT INTO numbers VALUES (?)').run(value);
	db.pragma('wal_checkpoint(PASSIVE)');
	const [database, before] = [await readFile(path), await readFile(wal)];
	db.prepare('INSERT INTO numbers VALUES (?)').run(COMMITS);
	const next = await readFile(wal);
	db.close();
	assert.notDeepEqual(next.subarray(0, HEADER), before.subarray(0, HEADER), 'the log has started again');
	for (let written = 0; written <= HEADER; written++) {
		await writeFile(path, database);
		await writeFile(wal, Buffer.concat([next.subarray(0, written), before.subarray(written)]));
		assert.equal(findWalDamage(path), null, `${written} bytes of the next header`);
		const restarted = new Database(path);
		assert.equal(restarted.prepare('SELECT count(*) FROM numbers').pluck().get(), COMMITS);
		restarted.close();
	}
});

test('knows whether a checkpoint has copied pages of the commits that cannot be read', async (t) => {
	const path = join(await temporaryFolder(t), 'parley.db');
	const wal = `${path}-wal`;
	const db = new Database(path);
	db.pragma('journal_mode = WAL');
	db.exec('CREATE TABLE texts (value)');
	db.pragma('wal_checkpoint(TRUNCATE)');
	/** The length of the log after each commit, of several pages each. */
	const ends = [0];
	for (let at = 0; at < COMMITS; at++) {
		db.prepare('INSERT INTO texts VALUES (?)').run(Buffer.alloc(15_000, at + 1));
		ends.push((await readFile(wal)).length);
	}
	const [log, empty] = [await readFile(wal), await readFile(path)];
	db.close();
	/** The database after a checkpoint of the first commits. */
	async function copied(commits: number): Promise<Buffer> {
		await writeFile(path, empty);
		await writeFile(wal, log.subarray(0, ends[commits]));
		const running = new Database(path);
		running.pragma('wal_checkpoint(PASSIVE)');
		const bytes = await readFile(path);
		running.close();
		return bytes;
	}
	for (const commits of [0, 4, COMMITS]) {
		const database = await copied(commits);
		for (const damaged of [1, 3, 4, 5, 8]) {
			for (const position of [0, 5, 9, 2_000]) {
				await writeFile(path, database);
				await writeFile(wal, log);
				const begin = ends[damaged - 1] === 0 ? HEADER : (ends[damaged - 1] as number);
				await flip(wal, begin + position);
				const damage = findWalDamage(path);
				assert.deepEqual(damage?.isCopied, damaged <= commits, `${commits} copied, ${damaged} damaged at ${position}`);
			}
		}
		// The damage may reach into the first frame, or into several. Where all was copied, nothing is lost.
		for (const lost of [1, 40, 512, 4096, 3 * FRAME]) {
			await writeFile(path, database);
			await writeFile(wal, Buffer.concat([Buffer.alloc(lost), log.subarray(lost)]));
			const isCopied = commits === COMMITS ? undefined : commits === 4;
			assert.equal(findWalDamage(path)?.isCopied, isCopied, `${commits} copied, ${lost} bytes lost`);
		}
	}
	await writeFile(path, await copied(4));
	await writeFile(wal, log);
	await flip(wal, 17);
	const damaged = await readFile(wal);
	await assert.rejects(
		repairLog(dirname(path), 'now'),
		/cannot be repaired: .* Nothing was changed\. Restore a backup\.$/,
	);
	assert.throws(() => requireSoundLog(dirname(path)), /cannot continue without them\. Restore a backup\.$/);
	assert.deepEqual(await readFile(wal), damaged);
});
