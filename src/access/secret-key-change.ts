import { randomBytes } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { AppError, fsyncFolder, makeDurableFolder } from '../base/index.ts';
import type { Store, Write } from '../store/index.ts';
import {
	createFileOnce,
	fingerprint,
	fingerprintFile,
	KEY_BYTES,
	keyFile,
	readKey,
	SECRET_KEY_FACT,
	UnreadableKeyError,
} from './secret-key-files.ts';

/**
 * The key that replaces a lost key, durable when this returns: the given key, else the key in the file, else a new one.
 * A file that holds no key is kept beside it as `secret.key.unreadable`.
 * @param configuredKey `PARLEY_SECRET_KEY`
 */
export async function replacementKey(dataDir: string, configuredKey: string | undefined): Promise<Buffer> {
	if (configuredKey !== undefined) return Buffer.from(configuredKey, 'base64');
	makeDurableFolder(dataDir, 0o700);
	const path = keyFile(dataDir);
	const found = await readKeyOrNull(path);
	if (found === null) {
		await rename(path, `${path}.unreadable`).catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'ENOENT') throw error;
		});
		await createFileOnce(path, randomBytes(KEY_BYTES).toString('base64'));
	}
	await fsyncFolder(dataDir);
	return found ?? ((await readKey(path)) as Buffer);
}

/** The key that `replacementKey` would reuse; null where it would generate one. */
export async function existingKey(dataDir: string, configuredKey: string | undefined): Promise<Buffer | null> {
	return configuredKey === undefined ? readKeyOrNull(keyFile(dataDir)) : Buffer.from(configuredKey, 'base64');
}

/**
 * Assigns a key to the database in the same commit that changes what was sealed with the key before. The key must be durable. After a
 * crash before the commit, `replacementKey` finds the same key and this starts over; after the commit, the start renews the fingerprint
 * in the folder from the database.
 * @throws AppError `unavailable` where the commit is refused
 */
export async function adoptKey(
	store: Pick<Store, 'get' | 'commit'>,
	dataDir: string,
	key: Buffer,
	now: number,
	writes: Write[] = [],
): Promise<void> {
	await adoptKeyOfCluster(store, key, now, writes);
	await rm(fingerprintFile(dataDir), { force: true });
	await createFileOnce(fingerprintFile(dataDir), fingerprint(key));
	await fsyncFolder(dataDir);
}

/** As `adoptKey`, where no folder has a fingerprint: servers share the database. */
export async function adoptKeyOfCluster(
	store: Pick<Store, 'get' | 'commit'>,
	key: Buffer,
	now: number,
	writes: Write[] = [],
): Promise<void> {
	const value = fingerprint(key);
	const storedFingerprint = await store.get('server_facts', SECRET_KEY_FACT);
	const fact: Write = storedFingerprint
		? { op: 'patch', kind: 'server_facts', id: SECRET_KEY_FACT, set: { value } }
		: { op: 'insert', kind: 'server_facts', record: { id: SECRET_KEY_FACT, value, created_at: now } };
	const { outcome } = await store.commit({ write: [...writes, fact] });
	if (outcome !== 'committed') throw new AppError('unavailable', `The change was refused (${outcome}).`);
}

async function readKeyOrNull(path: string): Promise<Buffer | null> {
	try {
		return await readKey(path);
	} catch (error) {
		if (error instanceof UnreadableKeyError) return null;
		throw error;
	}
}
