import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { AppError } from '../../src/base/index.ts';
import { WriteHealth } from '../../src/store/write-health.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every kind
type Line = Record<string, any>;

/** A health whose probes fail with the error that is set. */
function watched(options: { repeatMs?: number } = {}) {
	const lines: Line[] = [];
	const log = pino<never>({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
	const disk = { failure: null as Error | null, probes: 0 };
	const health = new WriteHealth({
		log,
		probeMs: 5,
		...options,
		async probe() {
			disk.probes++;
			if (disk.failure !== null) throw disk.failure;
		},
	});
	return { health, lines, disk };
}

const full = () => Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });

test('logs a full disk once, and its recovery, without any other write', async () => {
	const { health, lines, disk } = watched();
	using _closing = health;
	disk.failure = new AppError('unavailable', 'The change could not be written to disk.', { cause: full() });
	for (let at = 0; at < 50; at++) health.recordFailure('SQLITE_FULL', 'database or disk is full');
	assert.deepEqual(health.problem, { reason: 'disk_full', message: 'The disk is full: nothing can be stored.' });
	await until('it was probed', () => disk.probes >= 3);
	assert.equal(lines.length, 1, JSON.stringify(lines));
	assert.deepEqual(
		[lines[0]?.reason, lines[0]?.code, lines[0]?.cause],
		['disk_full', 'SQLITE_FULL', 'database or disk is full'],
	);
	disk.failure = null;
	await until('it recovered', () => health.problem === null);
	assert.deepEqual([lines.length, lines[1]?.msg, lines[1]?.reason], [2, 'writes succeed again', 'disk_full']);
});

test('logs a lasting problem repeatedly with the number of failures, and another cause at once', async () => {
	const { health, lines, disk } = watched({ repeatMs: 20 });
	using _closing = health;
	disk.failure = full();
	health.recordFailure('SQLITE_FULL', 'database or disk is full');
	await until('it was told again', () => lines.length >= 3);
	assert.ok(lines.slice(1).every(({ msg, failures }) => msg === 'writes still fail' && failures >= 1));
	disk.failure = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' });
	await until('the other cause was told', () => lines.at(-1)?.reason === 'disk_error');
	assert.equal(health.problem?.reason, 'disk_error');
});

test('a failure of the write itself does not count as a problem of the disk', () => {
	const { health, lines } = watched();
	using _closing = health;
	for (const code of ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_TOOBIG', 'ERR_INVALID_ARG_TYPE', undefined]) {
		health.recordFailure(code, 'no');
	}
	health.recordFileFailure(new Error('the client left'));
	assert.deepEqual([health.problem, lines], [null, []]);
});

test('logs a file that does not fit, and reports a problem only when nothing else fits', async () => {
	const { health, lines, disk } = watched();
	using _closing = health;
	const tooLarge = () => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
	health.recordFileFailure(tooLarge());
	await until('the disk was tried', () => disk.probes === 1);
	assert.deepEqual([health.problem, lines.map(({ msg }) => msg)], [null, ['an uploaded file could not be written']]);
	disk.failure = tooLarge();
	health.recordFileFailure(tooLarge());
	await until('nothing fits', () => health.problem?.reason === 'disk_full');
});

test('each kind of failure has its reason', () => {
	const reasons = {
		SQLITE_IOERR_WRITE: 'disk_error',
		EIO: 'disk_error',
		SQLITE_CORRUPT_INDEX: 'database_damaged',
		SQLITE_NOTADB: 'database_damaged',
		SQLITE_READONLY_DBMOVED: 'database_read_only',
		EROFS: 'database_read_only',
		SQLITE_BUSY: 'database_busy',
		DATABASE_GONE: 'database_gone',
		DATABASE_TAKEN_OVER: 'database_taken_over',
		WRITES_STALLED: 'disk_stalled',
		WRITER_ENDED: 'writer_ended',
	};
	for (const [code, reason] of Object.entries(reasons)) {
		const { health } = watched();
		using _closing = health;
		health.recordFailure(code, 'it failed');
		assert.equal(health.problem?.reason, reason, code);
	}
});

test('stalled writes recover as soon as one is answered', () => {
	const { health, lines } = watched();
	using _closing = health;
	health.recordProgress();
	health.recordFailure('WRITES_STALLED', 'The writer has not answered for 20 seconds.');
	health.recordProgress();
	assert.equal(health.problem, null);
	assert.equal(lines.length, 2);
});
