import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
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
