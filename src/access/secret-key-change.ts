import { randomBytes } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { AppError, fsyncFolder, makeDurableFolder } from '../base/index.ts';
import type { Store, Write } from '../store/index.ts';
import {
	fingerprint,
	KEY_BYTES,
	keyFile,
	place,
	printFile,
	readKey,
	SECRET_KEY_FACT,
	UnreadableKey,
} from './secret-key-files.ts';

/**
 * The key that takes the place of a lost one, durable when this returns: the given key, else the key in the file, else a new one.
 * A file that holds no key is kept beside it as `secret.key.unreadable`.
 * @param given `PARLEY_SECRET_KEY`
 */
export async function nextKey(dataDir: string, given: string | undefined): Promise<Buffer> {
	if (given !== undefined) return Buffer.from(given, 'base64');
	makeDurableFolder(dataDir, 0o700);
	const path = keyFile(dataDir);
	const found = await readableKey(path);
	if (found === null) {
		await rename(path, `${path}.unreadable`).catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'ENOENT') throw error;
		});
		await place(path, randomBytes(KEY_BYTES).toString('base64'));
	}
	await fsyncFolder(dataDir);
	return found ?? ((await readKey(path)) as Buffer);
}

/** The key that `nextKey` would take without making one; null where it would make one. */
export async function presentKey(dataDir: string, given: string | undefined): Promise<Buffer | null> {
	return given === undefined ? readableKey(keyFile(dataDir)) : Buffer.from(given, 'base64');
}

/**
 * Makes a key the database's own, together with a change of what was sealed with the key before. The key must be durable. After a
 * crash before the commit, `nextKey` finds the same key and this starts over; after the commit, the start renews the fingerprint
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
	const value = fingerprint(key);
	const known = await store.get('server_facts', SECRET_KEY_FACT);
	const fact: Write = known
		? { op: 'patch', kind: 'server_facts', id: SECRET_KEY_FACT, set: { value } }
		: { op: 'insert', kind: 'server_facts', record: { id: SECRET_KEY_FACT, value, created_at: now } };
	const { outcome } = await store.commit({ write: [...writes, fact] });
	if (outcome !== 'committed') throw new AppError('unavailable', `The change was refused (${outcome}).`);
	await rm(printFile(dataDir), { force: true });
	await place(printFile(dataDir), value);
	await fsyncFolder(dataDir);
}

async function readableKey(path: string): Promise<Buffer | null> {
	try {
		return await readKey(path);
	} catch (error) {
		if (error instanceof UnreadableKey) return null;
		throw error;
	}
}
