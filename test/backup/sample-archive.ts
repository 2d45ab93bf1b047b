import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
		const bytes = Buffer.from(text);
		const hash = sha256(bytes);
		await mkdir(dirname(store.blobs.path(hash)), { recursive: true });
		await writeFile(store.blobs.path(hash), bytes);
		const record = document({ blob: hash, size_bytes: bytes.length });
		await store.commit({ write: [{ op: 'insert', kind: 'documents', record }] });
	}
	return dataDir;
}

/** Makes a backup of a folder as a file in another one. */
export async function backUp(t: TestContext, dataDir: string): Promise<string> {
	const target = join(await temporaryFolder(t), 'backup.tar');
	return (await createBackup({ dataDir, target, clock: systemClock, signal: never })).file;
}
