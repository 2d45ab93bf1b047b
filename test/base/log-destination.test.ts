import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LogDestination } from '../../src/base/log-destination.ts';
import { findProgram } from '../support/programs.ts';
import { until } from '../support/until.ts';

const skip = findProgram('mkfifo') === null && 'skipped: this system has no mkfifo';

/** Both ends of a pipe, which do not block. */
function pipe() {
	const folder = mkdtempSync(join(tmpdir(), 'parley-pipe-'));
	const path = join(folder, 'pipe');
	spawnSync('mkfifo', [path]);
	const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
	const writing = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
	return {
		writing,
		/** What is in the pipe; empty where nothing is. */
		read(): string {
			const buffer = Buffer.alloc(1024 * 1024);
			try {
				return buffer.toString('utf8', 0, readSync(reading, buffer));
			} catch (error) {
				if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return '';
				throw error;
			}
		},
		stopReading: () => closeSync(reading),
		[Symbol.dispose]: () => rmSync(folder, { recursive: true }),
	};
}

test('lines wait for a full pipe and arrive whole and in order', { skip }, async () => {
	using ends = pipe();
	const destination = new LogDestination(ends.writing, () => assert.fail('none is lost'));
	const lines = Array.from({ length: 5_000 }, (_, at) => `${String(at).padStart(99, '0')}\n`);
	for (const line of lines) destination.write(line);
	let received = '';
	await until('all have come', () => {
		received += ends.read();
		return received.length >= 500_000;
	});
	assert.equal(received, lines.join(''));
});

test('drops lines beyond the buffer of an unread pipe, and reports their number later', {
	skip,
}, async () => {
	using ends = pipe();
	const told: number[] = [];
	const destination = new LogDestination(ends.writing, (lines) => {
		told.push(lines);
		destination.write('some are lost\n');
	});
	const line = `${'x'.repeat(1_000_000)}\n`;
	for (let at = 0; at < 40; at++) destination.write(line);
	const pieces: string[] = [];
	await until('it is told', () => {
		pieces.push(ends.read());
		return pieces.slice(-2).join('').endsWith('some are lost\n');
	});
	const whole = pieces
		.join('')
		.split('\n')
		.filter((each) => each.length === 1_000_000).length;
	assert.deepEqual([told.length, whole + (told[0] ?? 0)], [1, 40]);
	assert.ok(whole >= 10 && whole < 40, String(whole));
});

test('writes nothing more to a pipe whose reader has closed it, without an error', { skip }, async () => {
	using ends = pipe();
	const destination = new LogDestination(ends.writing, () => assert.fail('there is no reader to tell'));
	ends.stopReading();
	destination.write('first\n');
	await new Promise(setImmediate);
	destination.write('second\n');
	destination.flushSync();
});
