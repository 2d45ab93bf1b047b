import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { deferred } from '../../../src/base/index.ts';
import type { BlobStore } from '../../../src/store/index.ts';

/** An empty store of blobs, and what its tests look at. */
export interface OpenedBlobs {
	blobs: BlobStore;
	/** Uploads that are neither persisted nor gone. */
	incoming(): Promise<unknown[]>;
	/** What is stored of all blobs: empty once all are removed. */
	stored(): Promise<unknown[]>;
}

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

export async function persisted(blobs: BlobStore, bytes: Buffer | string): Promise<string> {
	const blob = await blobs.receive(Readable.from([Buffer.from(bytes)]));
	await blob.persist();
	return blob.hash;
}

export async function listed(blobs: BlobStore): Promise<string[]> {
	const hashes: string[] = [];
	for await (const hash of blobs.list()) hashes.push(hash);
	return hashes.sort();
}

/** Uploaded files. */
export function blobContract(open: (t: TestContext, maxReceiving?: number) => Promise<OpenedBlobs>): void {
	test('stores persisted bytes unchanged under their hash', async (t) => {
		const { blobs, incoming } = await open(t);
		const bytes = randomBytes(300_000);
		const blob = await blobs.receive(
			Readable.from([bytes.subarray(0, 1), bytes.subarray(1, 70_000), bytes.subarray(70_000)]),
		);
		assert.deepEqual([blob.hash, blob.size], [sha256(bytes), 300_000]);
		assert.deepEqual(blob.head, bytes.subarray(0, 64 * 1024));
		assert.deepEqual(await listed(blobs), [], 'not kept yet');
		await blob.persist();
		await blob.discard();
		assert.deepEqual(await blobs.read(blob.hash), bytes);
		assert.deepEqual(await listed(blobs), [blob.hash]);
		assert.deepEqual(await incoming(), []);
	});

	test('stores files of any size, in pieces of any size', async (t) => {
		const { blobs } = await open(t);
		const KIB = 1024;
		for (const size of [1, 256 * KIB - 1, 256 * KIB, 256 * KIB + 1, 3 * 256 * KIB, 2_000_001]) {
			const bytes = randomBytes(size);
			for (const pieceSize of [size, 100_003]) {
				const count = Math.ceil(size / pieceSize);
				const pieces = Array.from({ length: count }, (_, n) => bytes.subarray(n * pieceSize, (n + 1) * pieceSize));
				const blob = await blobs.receive(Readable.from(pieces));
				await blob.persist();
				assert.deepEqual([blob.hash, blob.size], [sha256(bytes), size]);
			}
			assert.ok((await blobs.read(sha256(bytes)))?.equals(bytes));
			assert.ok((await blobs.withFile(sha256(bytes), (path) => readFile(path))).equals(bytes));
		}
	});

	test('an empty file is a blob like any other', async (t) => {
		const { blobs } = await open(t);
		const blob = await blobs.receive(Readable.from([]));
		assert.deepEqual([blob.hash, blob.size, blob.head.length], [sha256(Buffer.alloc(0)), 0, 0]);
		await blob.persist();
		assert.equal((await blobs.read(blob.hash))?.length, 0);
		assert.equal((await blobs.withFile(blob.hash, (path) => readFile(path))).length, 0);
	});

	test('refuses an upload beyond the limit until another one has ended', async (t) => {
		const { blobs } = await open(t, 2);
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
		const { blobs, incoming } = await open(t);
		const take = (text: string) => persisted(blobs, text);
		const hashes = await Promise.all([take('same'), take('same'), take('other'), take('same')]);
		assert.deepEqual(await listed(blobs), [...new Set(hashes)].sort());
		assert.equal(new Set(hashes).size, 2);
		assert.deepEqual(await incoming(), []);
		assert.equal((await blobs.read(hashes[0]))?.toString(), 'same');
	});

	test('discarded bytes leave nothing', async (t) => {
		const { blobs, incoming, stored } = await open(t);
		const blob = await blobs.receive(Readable.from([Buffer.from('no')]));
		assert.equal((await incoming()).length, 1);
		await blob.discard();
		await blob.discard();
		assert.deepEqual([await incoming(), await listed(blobs), await stored()], [[], [], []]);
		assert.equal(await blobs.read(blob.hash), undefined);
	});

	test('a failing source leaves nothing behind, however early or late it fails', async (t) => {
		const { blobs, incoming, stored } = await open(t);
		async function* failing(pieces: number): AsyncGenerator<Buffer> {
			for (let n = 0; n < pieces; n++) yield randomBytes(50_000);
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
		assert.deepEqual([await incoming(), await listed(blobs), await stored()], [[], [], []]);
	});

	test('a removed blob is gone, and removing it again is no error', async (t) => {
		const { blobs, stored } = await open(t);
		const hash = await persisted(blobs, 'old');
		await blobs.remove(hash);
		await blobs.remove(hash);
		assert.deepEqual([await listed(blobs), await stored()], [[], []]);
		assert.equal(await blobs.read(hash), undefined);
		await assert.rejects(blobs.withFile(hash, (path) => readFile(path)));
		assert.equal(await persisted(blobs, 'old'), hash);
		assert.equal((await blobs.read(hash))?.toString(), 'old');
	});

	test('gives the result of a task with a local file, and its error', async (t) => {
		const { blobs } = await open(t);
		const hash = await persisted(blobs, 'some text');
		assert.equal(await blobs.withFile(hash, (path) => readFile(path, 'utf8')), 'some text');
		const failed = blobs.withFile(hash, async () => {
			throw new Error('it cannot be parsed');
		});
		await assert.rejects(failed, /it cannot be parsed/);
		assert.equal(await blobs.withFile(hash, (path) => readFile(path, 'utf8')), 'some text');
	});

	test('runs tasks about one blob one after the other, also after a failure, and others concurrently', async (t) => {
		const { blobs } = await open(t);
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
		assert.deepEqual(order.toSorted(), ['a1 begins', 'a1 fails', 'a2', 'b']);
		assert.ok(order.indexOf('b') < order.indexOf('a1 fails') && order.at(-1) === 'a2');
	});

	test('a probe leaves nothing behind', async (t) => {
		const { blobs, incoming, stored } = await open(t);
		await blobs.probe();
		assert.deepEqual([await incoming(), await listed(blobs), await stored()], [[], [], []]);
	});
}
