import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import { BlobStore } from '../../src/store/index.ts';
import { temporaryPlace } from './contract/life.ts';

async function openBlobs(t: Parameters<typeof temporaryPlace>[0]) {
	const folder = join(await temporaryPlace(t), 'blobs');
	const blobs = new BlobStore(folder);
	await blobs.prepare({ isOnlyOwner: true });
	return { blobs, folder, incoming: () => readdir(join(folder, 'incoming')) };
}

async function listed(blobs: BlobStore): Promise<string[]> {
	const hashes: string[] = [];
	for await (const hash of blobs.list()) hashes.push(hash);
	return hashes.sort();
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test('stores persisted bytes unchanged under their hash', async (t) => {
	const { blobs, incoming } = await openBlobs(t);
	const bytes = randomBytes(300_000);
	const blob = await blobs.receive(
		Readable.from([bytes.subarray(0, 1), bytes.subarray(1, 70_000), bytes.subarray(70_000)]),
	);
	assert.deepEqual([blob.hash, blob.size], [sha256(bytes), 300_000]);
	assert.deepEqual(blob.head, bytes.subarray(0, 64 * 1024));
	assert.deepEqual(await listed(blobs), [], 'not kept yet');
	await blob.persist();
	await blob.discard();
	assert.deepEqual(await readFile(blobs.path(blob.hash)), bytes);
	assert.deepEqual(await listed(blobs), [blob.hash]);
	assert.deepEqual(await incoming(), []);
});

test('an empty file is a blob like any other', async (t) => {
	const { blobs } = await openBlobs(t);
	const blob = await blobs.receive(Readable.from([]));
	assert.deepEqual([blob.hash, blob.size, blob.head.length], [sha256(Buffer.alloc(0)), 0, 0]);
	await blob.persist();
	assert.equal((await readFile(blobs.path(blob.hash))).length, 0);
});

test('refuses an upload beyond the limit until another one has ended', async (t) => {
	const folder = join(await temporaryPlace(t), 'blobs');
	const blobs = new BlobStore(folder, undefined, 2);
	await blobs.prepare({ isOnlyOwner: true });
	const sources = [new PassThrough(), new PassThrough()] as const;
	const running = sources.map((source) => blobs.receive(source));
	await assert.rejects(blobs.receive(Readable.from(['more'])), { code: 'unavailable', retry_after: 5 });
	const left = assert.rejects(running[1] as Promise<unknown>, /has left/);
	sources[0].end('one');
	sources[1].destroy(new Error('the sender has left'));
	assert.equal((await running[0])?.size, 3);
	await left;
	const further = await Promise.all(['a', 'b'].map((text) => blobs.receive(Readable.from([Buffer.from(text)]))));
	assert.equal(further.length, 2);
});

test('the same bytes twice are one blob; different ones are two', async (t) => {
	const { blobs, incoming } = await openBlobs(t);
	const take = async (text: string) => {
		const blob = await blobs.receive(Readable.from([Buffer.from(text)]));
		await blob.persist();
		return blob.hash;
	};
	const hashes = await Promise.all([take('same'), take('same'), take('other'), take('same')]);
	assert.deepEqual(await listed(blobs), [...new Set(hashes)].sort());
	assert.equal(new Set(hashes).size, 2);
	assert.deepEqual(await incoming(), []);
});

test('discarded bytes leave nothing', async (t) => {
	const { blobs, incoming } = await openBlobs(t);
	const blob = await blobs.receive(Readable.from([Buffer.from('no')]));
	await blob.discard();
	await blob.discard();
	assert.deepEqual([await incoming(), await listed(blobs)], [[], []]);
});

test('a failing source leaves nothing behind, however early or late it fails', async (t) => {
	const { blobs, incoming } = await openBlobs(t);
	async function* failing(chunks: number): AsyncGenerator<Buffer> {
		for (let n = 0; n < chunks; n++) yield randomBytes(50_000);
		throw new Error('the client went away');
	}
	const attempts = Array.from({ length: 60 }, (_, n) => {
		const source = n % 2 === 0 ? failing(n % 7) : Readable.from(failing(n % 7));
		return assert.rejects(blobs.receive(source), /the client went away/);
	});
	await Promise.all(attempts);
	const cut = new Readable({ read() {} });
	cut.push('some');
	queueMicrotask(() => cut.destroy());
	await assert.rejects(blobs.receive(cut));
	assert.deepEqual([await incoming(), await listed(blobs)], [[], []]);
});

test('removes incomplete uploads of an earlier process at the start, and keeps persisted blobs', async (t) => {
	const { blobs, folder, incoming } = await openBlobs(t);
	const blob = await blobs.receive(Readable.from([Buffer.from('kept')]));
	await blob.persist();
	await writeFile(join(folder, 'incoming', 'half'), 'half of a fi');
	const beside = new BlobStore(folder);
	await beside.prepare({ isOnlyOwner: false });
	assert.deepEqual(await incoming(), ['half'], 'a tool beside a server removes nothing');
	const next = new BlobStore(folder);
	await next.prepare({ isOnlyOwner: true });
	assert.deepEqual(await incoming(), []);
	assert.deepEqual(await listed(next), [blob.hash]);
});

test('a removed blob is gone, and removing it again is no error', async (t) => {
	const { blobs } = await openBlobs(t);
	const blob = await blobs.receive(Readable.from([Buffer.from('old')]));
	await blob.persist();
	await blobs.remove(blob.hash);
	await blobs.remove(blob.hash);
	assert.deepEqual(await listed(blobs), []);
});

test('runs tasks about one blob one after the other, also after a failure, and others concurrently', async (t) => {
	const { blobs } = await openBlobs(t);
	const order: string[] = [];
	const first = deferred<void>();
	const held = blobs.exclusive('a', async () => {
		order.push('a1 begins');
		await first.promise;
		order.push('a1 fails');
		throw new Error('a1');
	});
	const failure = assert.rejects(held, /a1/);
	const second = blobs.exclusive('a', async () => void order.push('a2'));
	await blobs.exclusive('b', async () => void order.push('b'));
	first.resolve();
	await Promise.all([failure, second]);
	assert.deepEqual(order, ['a1 begins', 'b', 'a1 fails', 'a2']);
});
