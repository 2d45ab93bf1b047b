import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { AppError, createLog, fsyncFolder, type Log, makeDurableFolder } from '../base/index.ts';
import type { Store } from '../store/index.ts';
import { hasSealedSecrets, type SealedSecretsStore } from './sealed-secrets.ts';
import { adoptKey, replacementKey } from './secret-key-change.ts';
import {
	createFileOnce,
	fingerprint,
	fingerprintFile,
	KEY_BYTES,
	keyFile,
	LOST_KEY_REMEDY,
	readKey,
	readText,
	SECRET_KEY_FACT,
	UnreadableKeyError,
} from './secret-key-files.ts';

/**
 * The server's secret key: it authenticates cursors and encrypts stored secrets. It is configured, or the first start creates it in
 * a file that only its owner can read. By a fingerprint beside the data, later starts check that they have the right key.
 * @param configuredKey `PARLEY_SECRET_KEY`: 32 bytes in base64
 * @throws AppError `unavailable` where the folder's secrets were sealed with another key
 */
export async function loadSecretKey(dataDir: string, configuredKey?: string): Promise<Buffer> {
	makeDurableFolder(dataDir, 0o700);
	const key =
		configuredKey === undefined
			? await keyFromFile(dataDir)
			: await requireKeyFits(dataDir, Buffer.from(configuredKey, 'base64'));
	await createFileOnce(fingerprintFile(dataDir), fingerprint(key));
	// The file must be durable before anything is sealed with the key, also where the process that created it crashed before this.
	await fsyncFolder(dataDir);
	return key;
}

/**
 * Loads the key that belongs to a database. The database holds its fingerprint too: a database that was moved to another folder
 * without its key does not start with a key that opens none of its secrets. Where that key is lost (its file is missing, or holds
 * another key or none) and nothing was sealed with it, PARLEY_SECRET_KEY, the key in the file or a new key replaces it, and the log
 * says so. A file that holds no key is replaced only where the database had a key before: otherwise the operator put it there.
 * @throws AppError `unavailable`
 */
export async function loadSecretKeyOfDatabase(
	store: Pick<Store, 'get' | 'commit'> & SealedSecretsStore,
	dataDir: string,
	configuredKey: string | undefined,
	now: number,
	log: Log = createLog('silent'),
): Promise<Buffer> {
	try {
		return await keyForDatabase(store, dataDir, configuredKey, now);
	} catch (error) {
		const isLost =
			error instanceof UnreadableKeyError && (await store.get('server_facts', SECRET_KEY_FACT)) !== undefined;
		if (!(isLost || error instanceof WrongKeyError) || (await hasSealedSecrets(store))) throw error;
		const key = await replacementKey(dataDir, configuredKey);
		await adoptKey(store, dataDir, key, now);
		log.warn(
			{ data_dir: dataDir },
			configuredKey === undefined
				? 'another secret key is used from now on: the one before is gone, and nothing was encrypted with it'
				: 'PARLEY_SECRET_KEY is used from now on in place of the secret key before: nothing was encrypted with that',
		);
		return key;
	}
}

async function keyForDatabase(
	store: Pick<Store, 'get' | 'commit'>,
	dataDir: string,
	configuredKey: string | undefined,
	now: number,
): Promise<Buffer> {
	const storedFingerprint = await store.get('server_facts', SECRET_KEY_FACT);
	if (storedFingerprint && storedFingerprint.value !== (await readText(fingerprintFile(dataDir)))) {
		await rm(fingerprintFile(dataDir), { force: true });
		await createFileOnce(fingerprintFile(dataDir), storedFingerprint.value);
	}
	const key = await loadSecretKey(dataDir, configuredKey);
	if (!storedFingerprint) {
		const record = { id: SECRET_KEY_FACT, value: fingerprint(key), created_at: now };
		await store.commit({ write: [{ op: 'insert', kind: 'server_facts', record }] });
	}
	return key;
}

/** The key is missing, or differs from the key that the secrets were sealed with. */
class WrongKeyError extends AppError {
	constructor(message: string) {
		super('unavailable', message);
	}
}

/** The key in the folder's file. It is created where there is neither a key nor a fingerprint of another key. */
async function keyFromFile(dataDir: string): Promise<Buffer> {
	const path = keyFile(dataDir);
	const expectedFingerprint = await readText(fingerprintFile(dataDir));
	const found = await readKey(path);
	if (found && expectedFingerprint !== null && expectedFingerprint !== fingerprint(found)) {
		throw new WrongKeyError(
			`${path} is not the key with which the secrets in ${dataDir} were encrypted. ${LOST_KEY_REMEDY}`,
		);
	}
	if (found) return found;
	if (expectedFingerprint !== null) {
		throw new WrongKeyError(
			`The secrets in ${dataDir} were encrypted with a key that is not here: set it as PARLEY_SECRET_KEY, or bring ${path} back. ${LOST_KEY_REMEDY}`,
		);
	}
	await createFileOnce(path, randomBytes(KEY_BYTES).toString('base64'));
	return (await readKey(path)) as Buffer;
}

/** The configured key, compared with the fingerprint, or with the folder's key where there is no fingerprint yet. */
async function requireKeyFits(dataDir: string, key: Buffer): Promise<Buffer> {
	const storedFingerprint = await readText(fingerprintFile(dataDir));
	if (storedFingerprint === fingerprint(key)) return key;
	const fileKey = await readKey(keyFile(dataDir));
	const expectedFingerprint = storedFingerprint ?? (fileKey && fingerprint(fileKey));
	if (expectedFingerprint === null || expectedFingerprint === fingerprint(key)) return key;
	const remedy =
		fileKey && expectedFingerprint === fingerprint(fileKey)
			? `Unset it: the key is in ${keyFile(dataDir)}. Or reset the secrets: "parley secrets reset" lists them first.`
			: `Set that key, or another PARLEY_DATA_DIR. ${LOST_KEY_REMEDY}`;
	throw new WrongKeyError(
		`PARLEY_SECRET_KEY is not the key with which the secrets in ${dataDir} were encrypted. ${remedy}`,
	);
}
