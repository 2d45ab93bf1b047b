import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { AppError, createLog, fsyncFolder, type Log, makeDurableFolder } from '../base/index.ts';
import type { Store } from '../store/index.ts';
import { hasSealedSecrets, type SealedSecretsStore } from './sealed-secrets.ts';
import { adoptKey, nextKey } from './secret-key-change.ts';
import {
	fingerprint,
	KEY_BYTES,
	keyFile,
	place,
	printFile,
	RESTORE_OR_RESET,
	readKey,
	readText,
	SECRET_KEY_FACT,
	UnreadableKey,
} from './secret-key-files.ts';

/**
 * The server's secret: what keeps cursors from being forged and stored secrets from being read. It is given, or made on the
 * first start in a file that only its owner reads. A fingerprint beside the data tells later starts which key they need.
 * @param given `PARLEY_SECRET_KEY`: 32 bytes in base64
 * @throws AppError `unavailable` where the folder's secrets were sealed with another key
 */
export async function loadSecretKey(dataDir: string, given?: string): Promise<Buffer> {
	makeDurableFolder(dataDir, 0o700);
	const key = given === undefined ? await ownKey(dataDir) : await givenKey(dataDir, Buffer.from(given, 'base64'));
	await place(printFile(dataDir), fingerprint(key));
	// Before anything is sealed with it, also where the process that made the file did not come this far.
	await fsyncFolder(dataDir);
	return key;
}

/**
 * Loads the key that belongs to a database. The database knows its fingerprint too: brought to another folder alone, it is
 * not served with a key that opens none of its secrets. Where that key is lost (its file is missing, holds another key or none)
 * and nothing was sealed with it, PARLEY_SECRET_KEY, the key in the file or a new key takes its place, and the log says so. A file
 * that holds no key is replaced only where the database had a key before: otherwise a person put it there.
 * @throws AppError `unavailable`
 */
export async function secretKeyOf(
	store: Pick<Store, 'get' | 'commit'> & SealedSecretsStore,
	dataDir: string,
	given: string | undefined,
	now: number,
	log: Log = createLog('silent'),
): Promise<Buffer> {
	try {
		return await knownKey(store, dataDir, given, now);
	} catch (error) {
		const isLost = error instanceof UnreadableKey && (await store.get('server_facts', SECRET_KEY_FACT)) !== undefined;
		if (!(isLost || error instanceof OtherKey) || (await hasSealedSecrets(store))) throw error;
		const key = await nextKey(dataDir, given);
		await adoptKey(store, dataDir, key, now);
		log.warn(
			{ data_dir: dataDir },
			given === undefined
				? 'another secret key is used from now on: the one before is gone, and nothing was sealed with it'
				: 'PARLEY_SECRET_KEY is used from now on in place of the secret key before: nothing was sealed with that',
		);
		return key;
	}
}

async function knownKey(
	store: Pick<Store, 'get' | 'commit'>,
	dataDir: string,
	given: string | undefined,
	now: number,
): Promise<Buffer> {
	const known = await store.get('server_facts', SECRET_KEY_FACT);
	if (known && known.value !== (await readText(printFile(dataDir)))) {
		await rm(printFile(dataDir), { force: true });
		await place(printFile(dataDir), known.value);
	}
	const key = await loadSecretKey(dataDir, given);
	if (!known) {
		const record = { id: SECRET_KEY_FACT, value: fingerprint(key), created_at: now };
		await store.commit({ write: [{ op: 'insert', kind: 'server_facts', record }] });
	}
	return key;
}

/** The key is missing, or differs from the key that the secrets were sealed with. */
class OtherKey extends AppError {
	constructor(message: string) {
		super('unavailable', message);
	}
}

/** The key in the folder's file, made where neither it nor a fingerprint of another one is there. */
async function ownKey(dataDir: string): Promise<Buffer> {
	const path = keyFile(dataDir);
	const print = await readText(printFile(dataDir));
	const found = await readKey(path);
	if (found && print !== null && print !== fingerprint(found)) {
		throw new OtherKey(`${path} is not the key with which the secrets in ${dataDir} were sealed. ${RESTORE_OR_RESET}`);
	}
	if (found) return found;
	if (print !== null) {
		throw new OtherKey(
			`The secrets in ${dataDir} were sealed with a key that is not here: set it as PARLEY_SECRET_KEY, or bring ${path} back. ${RESTORE_OR_RESET}`,
		);
	}
	await place(path, randomBytes(KEY_BYTES).toString('base64'));
	return (await readKey(path)) as Buffer;
}

/** The given key, held against the fingerprint; against the folder's own key where there is no fingerprint yet. */
async function givenKey(dataDir: string, key: Buffer): Promise<Buffer> {
	const known = await readText(printFile(dataDir));
	if (known === fingerprint(key)) return key;
	const own = await readKey(keyFile(dataDir));
	const print = known ?? (own && fingerprint(own));
	if (print === null || print === fingerprint(key)) return key;
	const remedy =
		own && print === fingerprint(own)
			? `Unset it: the key is in ${keyFile(dataDir)}. Or forget what was sealed: "parley secrets reset" lists that first.`
			: `Set that key, or another PARLEY_DATA_DIR. ${RESTORE_OR_RESET}`;
	throw new OtherKey(`PARLEY_SECRET_KEY is not the key with which the secrets in ${dataDir} were sealed. ${remedy}`);
}
