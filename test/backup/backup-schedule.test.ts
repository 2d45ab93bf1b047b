import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { backupFileName } from '../../src/backup/backup-files.ts';
import type { BackupScheduleOptions } from '../../src/backup/backup-schedule.ts';
import { BackupSchedule, listBackups, removeOldBackups } from '../../src/backup/index.ts';
import { deferred } from '../../src/base/index.ts';
import { temporaryFolder } from '../support/run-command.ts';
import { until } from '../support/until.ts';

const NOON = Date.UTC(2026, 10, 26, 12);
const HOUR = 3_600_000;
const SERIES = '1f9e02c4';
const nameOf = (madeAt: number) => backupFileName(SERIES, madeAt);

/** A schedule of six hours whose backups are empty files. */
async function openSchedule(
	t: TestContext,
	makeBackup?: (signal: AbortSignal) => Promise<string>,
	options: Partial<Pick<BackupScheduleOptions, 'maxBackupMs' | 'listTimeoutMs' | 'list'>> = {},
) {
	// Before the folder is removed: an empty folder makes a backup due.
	t.after(() => schedule[Symbol.asyncDispose]());
	const folder = await temporaryFolder(t);
	let checks = 0;
	const clock = {
		time: NOON,
		now() {
			checks++;
			return clock.time;
		},
	};
	const lines: Array<Record<string, unknown>> = [];
	const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
	const make = async () => {
		const name = nameOf(clock.time);
		await writeFile(join(folder, name), '');
		return name;
	};
	const schedule = new BackupSchedule({
		...{ folder, series: SERIES, log, clock, everyMs: 6 * HOUR, checkMs: 1, retryMs: 1, ...options },
		makeBackup: makeBackup ?? make,
	});
	const checkedAgain = async () => {
		const before = checks;
		// One may be under way.
		await until('it has checked twice', () => checks > before + 2);
	};
	return { folder, clock, schedule, lines, checkedAgain, names: async () => (await readdir(folder)).sort() };
}

test('a server without backups makes one at once, and the next when its time has passed', async (t) => {
	const { clock, schedule, checkedAgain, names, lines } = await openSchedule(t);
	schedule.start();
	await until('the first is made', async () => (await names()).length === 1);
	clock.time += 6 * HOUR - 1;
	await checkedAgain();
	assert.equal((await names()).length, 1);
	clock.time += 1;
	await until('the second is made', async () => (await names()).length === 2);
	assert.deepEqual(await names(), [nameOf(NOON), nameOf(NOON + 6 * HOUR)]);
	await until('both are logged', () => lines.length === 2);
	assert.deepEqual(
		lines.map(({ msg, result }) => [msg, result]),
		(await names()).map((name) => ['a backup was made', name]),
	);
});

test('the time counts from the newest backup that exists, but not from one of the future', async (t) => {
	const { folder, clock, schedule, checkedAgain, names } = await openSchedule(t);
	const existing = [NOON - 20 * HOUR, NOON - 5 * HOUR, NOON + 1_000 * HOUR].map(nameOf);
	for (const name of existing) await writeFile(join(folder, name), '');
	schedule.start();
	await checkedAgain();
	assert.deepEqual(await names(), existing);
	clock.time += HOUR;
	await until('one is made', async () => (await names()).length === 4);
});

test('a failure is logged in a sentence and tried again', async (t) => {
	let attempts = 0;
	const { schedule, lines } = await openSchedule(t, async () => {
		attempts++;
		throw new Error('The disk is full.');
	});
	schedule.start();
	await until('it was tried three times', () => attempts >= 3 && lines.length >= 3);
	const { level, msg, error } = lines[0] ?? {};
	assert.deepEqual([level, msg, error], [50, 'a backup has failed', 'The disk is full.']);
});

test('a backup that takes too long is stopped and tried again', async (t) => {
	let attempts = 0;
	const waits = async (signal: AbortSignal) => {
		attempts++;
		await new Promise((resolve) => signal.addEventListener('abort', resolve));
		throw signal.reason;
	};
	const { schedule, lines } = await openSchedule(t, waits, { maxBackupMs: 20 });
	schedule.start();
	await until('it was tried twice', () => attempts >= 2 && lines.length >= 1);
	assert.equal(lines[0]?.msg, 'a backup has failed');
});

test('a stop aborts a running backup and logs no failure', async (t) => {
	let isAborted = false;
	let isRunning = false;
	const { schedule, lines } = await openSchedule(t, async (signal) => {
		isRunning = true;
		await new Promise((resolve) => signal.addEventListener('abort', resolve));
		isAborted = true;
		throw signal.reason;
	});
	schedule.start();
	await until('it runs', () => isRunning);
	await schedule[Symbol.asyncDispose]();
	assert.deepEqual([isAborted, lines], [true, []]);
});

/** Reads a folder that does not answer before `answer` is called. */
function hungFolder() {
	const answered = deferred<void>();
	const folder = {
		readings: 0,
		answer: answered.resolve,
		async list(...[path, series]: Parameters<typeof listBackups>) {
			folder.readings++;
			await answered.promise;
			return listBackups(path, series);
		},
	};
	return folder;
}

test('a stop does not wait for a folder that does not answer', async (t) => {
	const hung = hungFolder();
	t.after(() => hung.answer());
	const { schedule, lines } = await openSchedule(t, undefined, { list: hung.list });
	schedule.start();
	await until('the folder is being read', () => hung.readings === 1);
	await schedule[Symbol.asyncDispose]();
	assert.deepEqual(lines, []);
});

test('a folder that does not answer is logged, read once at a time, and used when it answers', async (t) => {
	const hung = hungFolder();
	const { schedule, lines, names } = await openSchedule(t, undefined, { list: hung.list, listTimeoutMs: 5 });
	schedule.start();
	await until('it was logged twice', () => lines.length >= 2);
	assert.match(String(lines[0]?.error), /does not answer/);
	const newest = [schedule.newestMadeAt(), schedule.newestMadeAt()];
	assert.equal(hung.readings, 1);
	hung.answer();
	assert.deepEqual(await Promise.all(newest), [null, null]);
	await until('a backup is made', async () => (await names()).length === 1);
});

test('only the newest backups stay, and no other file counts as one', async (t) => {
	const folder = await temporaryFolder(t);
	const times = [5, 1, 4, 2, 3].map((hours) => NOON + hours * HOUR);
	const others = [
		'parley-20261126.tar',
		'notes.txt',
		'.parley-20261126T120000.000Z.tar.0123456789abcdef.partial',
		'parley-20269999T120000.000Z.tar',
	];
	for (const name of [...times.map(nameOf), ...others]) await writeFile(join(folder, name), '');
	await mkdir(join(folder, 'folder'));
	assert.deepEqual(
		(await listBackups(folder, SERIES)).map(({ madeAt }) => madeAt),
		times.toSorted((a, b) => b - a),
	);
	assert.deepEqual(
		await removeOldBackups(folder, 2, nameOf(NOON + 5 * HOUR)),
		[3, 2, 1].map((hours) => nameOf(NOON + hours * HOUR)),
	);
	assert.deepEqual(
		(await readdir(folder)).sort(),
		[...others, 'folder', ...[4, 5].map((hours) => nameOf(NOON + hours * HOUR))].sort(),
	);
	assert.deepEqual(await removeOldBackups(folder, 2, nameOf(NOON + 5 * HOUR)), []);
	assert.deepEqual(await listBackups(join(folder, 'none'), SERIES), []);
});

test('a new backup stays although older ones have later times, because a clock was ahead', async (t) => {
	const folder = await temporaryFolder(t);
	const ahead = [100, 101, 102].map((hours) => nameOf(NOON + hours * HOUR));
	const made = [1, 2].map((hours) => nameOf(NOON + hours * HOUR));
	for (const name of [...ahead, ...made]) await writeFile(join(folder, name), '');
	assert.deepEqual((await removeOldBackups(folder, 2, made[1] as string)).sort(), ahead);
	assert.deepEqual((await readdir(folder)).sort(), made);
});

test('servers that share a folder count and delete only their own backups', async (t) => {
	const folder = await temporaryFolder(t);
	const others = [1, 2, 3].map((hours) => backupFileName('00c0ffee', NOON + hours * HOUR));
	const own = [1, 2].map((hours) => nameOf(NOON + hours * HOUR));
	for (const name of [...others, ...own]) await writeFile(join(folder, name), '');
	assert.deepEqual(await removeOldBackups(folder, 1, own[1] as string), [own[0]]);
	assert.deepEqual((await readdir(folder)).sort(), [...others, own[1]].sort());
	assert.deepEqual(
		(await listBackups(folder, SERIES)).map(({ name }) => name),
		[own[1]],
	);
});
