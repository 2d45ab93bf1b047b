import { AppError } from '../base/index.ts';
import { type Readers, requireCommitted, type Store } from '../store/index.ts';
import { fingerprint, LOST_KEY_REMEDY, SECRET_KEY_FACT } from './secret-key-files.ts';

const WRONG_KEY = `PARLEY_SECRET_KEY is not the key with which the secrets in the PostgreSQL database were encrypted. Set the key that the other servers have. ${LOST_KEY_REMEDY}`;

/**
 * The secret key of servers that share a PostgreSQL database. The first server that starts on an empty database gives it the fingerprint
 * of its key, also where several start at once; every other key is refused. The data folder has no part in this.
 * @param configuredKey `PARLEY_SECRET_KEY`: 32 bytes in base64
 * @throws AppError `unavailable` where the database belongs to another key
 */
export async function loadSecretKeyOfCluster(
	store: Pick<Store, 'get' | 'commit'>,
	configuredKey: string,
	now: number,
): Promise<Buffer> {
	const key = Buffer.from(configuredKey, 'base64');
	if (await isKeyOfCluster(store, key)) return key;
	const record = { id: SECRET_KEY_FACT, value: fingerprint(key), created_at: now };
	try {
		requireCommitted(
			await store.commit({
				expect: [{ kind: 'server_facts', id: SECRET_KEY_FACT, version: 0 }],
				write: [{ op: 'insert', kind: 'server_facts', record }],
			}),
		);
	} catch (error) {
		// Of several servers that start at once, one has written its fingerprint. The others compare their keys with it.
		if (!(await isKeyOfCluster(store, key))) throw error;
	}
	return key;
}

/**
 * Compares a key with the key of the database.
 * @returns false where the database has none yet
 * @throws AppError `unavailable` for another key
 */
async function isKeyOfCluster(store: Pick<Readers, 'get'>, key: Buffer): Promise<boolean> {
	const fact = await store.get('server_facts', SECRET_KEY_FACT);
	if (fact === undefined) return false;
	if (fact.value !== fingerprint(key)) throw new AppError('unavailable', WRONG_KEY);
	return true;
}

/**
 * Refuses a key that is not the one of the database. A database that no server has used yet accepts every key.
 * @param configuredKey `PARLEY_SECRET_KEY`: 32 bytes in base64
 * @throws AppError `unavailable`
 */
export async function requireKeyOfCluster(store: Pick<Readers, 'get'>, configuredKey: string): Promise<void> {
	await isKeyOfCluster(store, Buffer.from(configuredKey, 'base64'));
}
