import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { createBackup } from '../../src/backup/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { document } from '../store/samples.ts';
import { temporaryFolder } from '../support/run-command.ts';

export const never = new AbortController().signal;

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A data folder with a document for each text, without a server. */
export async function dataFolderWith(t: TestContext, texts: readonly string[]): Promise<string> {
	const dataDir = await temporaryFolder(t);
	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	for (const text of texts) {
		const blob = await store.blobs.receive(Readable.from([Buffer.from(text)]));
		await blob.persist();
		const record = document({ blob: blob.hash, size_bytes: blob.size });
		await store.commit({ write: [{ op: 'insert', kind: 'documents', record }] });
	}
	return dataDir;
}

/** Makes a backup of a folder as a file in another one. */
export async function backUp(t: TestContext, dataDir: string): Promise<string> {
	const target = join(await temporaryFolder(t), 'backup.tar');
	return (await createBackup({ dataDir, target, clock: systemClock, signal: never })).file;
}
