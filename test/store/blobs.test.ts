// Own process: it patches what all files would share.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { type FileHandle, open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AppError } from '../../src/base/index.ts';
import { FileBlobs } from '../../src/store/index.ts';
import { blobContract, listed, persisted } from './contract/blobs.ts';
import { temporaryPlace } from './contract/life.ts';

async function openBlobs(t: TestContext, maxReceiving?: number) {
	const folder = join(await temporaryPlace(t), 'blobs');
	const blobs = new FileBlobs(folder, undefined, maxReceiving);
	await blobs.prepare({ isOnlyOwner: true });
	return {
		blobs,
		folder,
		incoming: () => readdir(join(folder, 'incoming')),
		async stored() {
			const entries = await readdir(folder, { recursive: true, withFileTypes: true });
			return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
		},
	};
}

blobContract(openBlobs);

test('removes incomplete uploads of an earlier process at the start, and keeps persisted blobs', async (t) => {
	const { blobs, folder, incoming } = await openBlobs(t);
	const hash = await persisted(blobs, 'kept');
	await writeFile(join(folder, 'incoming', 'half'), 'half of a fi');
	const beside = new FileBlobs(folder);
	await beside.prepare({ isOnlyOwner: false });
	assert.deepEqual(await incoming(), ['half'], 'a tool beside a server removes nothing');
	const next = new FileBlobs(folder);
	await next.prepare({ isOnlyOwner: true });
	assert.deepEqual(await incoming(), []);
	assert.deepEqual(await listed(next), [hash]);
});

test('a task with a local file gets the stored file itself', async (t) => {
	const { blobs } = await openBlobs(t);
	const hash = await persisted(blobs, 'not copied');
	assert.equal(await blobs.withFile(hash, async (path) => path), blobs.path(hash));
});

test('a complete upload is flushed to the disk, and a refused one is not', async (t) => {
	const flushes = await spiedFlushes(t);
	const { blobs } = await openBlobs(t);
	const refused = new AppError('payload_too_large', 'The file is too large.');
	const before = flushes();
	const tooLarge = blobs.receive(
		(async function* () {
			yield Buffer.alloc(100_000);
			throw refused;
		})(),
	);
	await assert.rejects(tooLarge, refused);
	assert.equal(flushes(), before);
	await blobs.receive(oneByte());
	assert.equal(flushes(), before + 1);
});

test('an upload whose flush fails is unavailable, and leaves nothing', async (t) => {
	const failures: unknown[] = [];
	const folder = join(await temporaryPlace(t), 'blobs');
	const blobs = new FileBlobs(folder, (error) => failures.push(error));
	await blobs.prepare({ isOnlyOwner: true });
	const broken = Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' });
	t.mock.method(await fileHandlePrototype(), 'sync', () => Promise.reject(broken));
	await assert.rejects(blobs.receive(oneByte()), { code: 'unavailable', cause: broken });
	assert.deepEqual(failures, [broken]);
	assert.deepEqual(await readdir(join(folder, 'incoming')), []);
});

async function* oneByte(): AsyncIterable<Uint8Array> {
	yield Buffer.from('x');
}

/** Counts the files that are flushed from now on. */
async function spiedFlushes(t: TestContext): Promise<() => number> {
	const calls = [t.mock.method(await fileHandlePrototype(), 'sync'), t.mock.method(fs, 'fsync')];
	return () => calls.reduce((sum, { mock }) => sum + mock.callCount(), 0);
}

/** Node does not export the class. */
async function fileHandlePrototype(): Promise<FileHandle> {
	await using file = await open('/dev/null');
	return Object.getPrototypeOf(file) as FileHandle;
}
