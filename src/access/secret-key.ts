import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, createLog, type Log, makeFolder, syncFolder } from '../base/index.ts';
import type { Store } from '../store/index.ts';
import { hasSealedSecrets, type SealedSecretsStore } from './sealed-secrets.ts';

const BYTES = 32;

/**
 * The server's secret: what keeps cursors from being forged and stored secrets from being read. It is given, or made on the
 * first start in a file that only its owner reads. A fingerprint beside the data tells later starts which key they need.
 * @param given `PARLEY_SECRET_KEY`: 32 bytes in base64
 * @throws AppError `unavailable` where the folder's secrets were sealed with another key
 */
export async function loadSecretKey(dataDir: string, given?: string): Promise<Buffer> {
	makeFolder(dataDir, 0o700);
	const key = given === undefined ? await ownKey(dataDir) : await givenKey(dataDir, Buffer.from(given, 'base64'));
	await place(printFile(dataDir), fingerprint(key));
	// Before anything is sealed with it, also where the process that made the file did not come this far.
	await syncFolder(dataDir);
	return key;
}

/**
 * Loads the key that belongs to a database. The database knows its fingerprint too: brought to another folder alone, it is
 * not served with a key that opens none of its secrets. Where nothing was sealed with the key that is missing, the key that is
 * there takes its place, or a new one, and the log says so.
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
		if (!(error instanceof OtherKey) || (await hasSealedSecrets(store))) throw error;
		// First the database forgets: after a crash in between the folder's own fingerprint still asks for the same again.
		await store.commit({ write: [{ op: 'remove', kind: 'server_facts', id: SECRET_KEY_FACT }] });
		await rm(printFile(dataDir), { force: true });
		const key = await knownKey(store, dataDir, given, now);
		log.warn(
			{ data_dir: dataDir },
			'another secret key is used from now on: the one before is gone, and nothing was sealed with it',
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

const SECRET_KEY_FACT = 'secret_key';

/** The key that the secrets were sealed with is not the one that is there, or none is. */
class OtherKey extends AppError {
	constructor(message: string) {
		super('unavailable', message);
	}
}

const keyFile = (dataDir: string): string => join(dataDir, 'secret.key');
const printFile = (dataDir: string): string => join(dataDir, 'secret.check');

/** The key in the folder's file, made where neither it nor a fingerprint of another one is there. */
async function ownKey(dataDir: string): Promise<Buffer> {
	const path = keyFile(dataDir);
	const print = await readText(printFile(dataDir));
	const found = await readKey(path);
	if (found && print !== null && print !== fingerprint(found)) {
		throw new OtherKey(`${path} is not the key with which the secrets in ${dataDir} were sealed.`);
	}
	if (found) return found;
	if (print !== null) {
		throw new OtherKey(
			`The secrets in ${dataDir} were sealed with a key that is not here: set it as PARLEY_SECRET_KEY, or bring ${path} back.`,
		);
	}
	await place(path, randomBytes(BYTES).toString('base64'));
	return (await readKey(path)) as Buffer;
}

/** The given key, held against the fingerprint; against the folder's own key where there is no fingerprint yet. */
async function givenKey(dataDir: string, key: Buffer): Promise<Buffer> {
	const own = await readKey(keyFile(dataDir));
	const print = (await readText(printFile(dataDir))) ?? (own && fingerprint(own));
	if (print === null || print === fingerprint(key)) return key;
	const remedy = own ? `Unset it: the key is in ${keyFile(dataDir)}.` : 'Set that key, or another PARLEY_DATA_DIR.';
	throw new OtherKey(`PARLEY_SECRET_KEY is not the key with which the secrets in ${dataDir} were sealed. ${remedy}`);
}

/** Tells one key from another without telling anything of either. */
function fingerprint(key: Buffer): string {
	return createHmac('sha256', key).update('parley secret key').digest('hex');
}

/** Makes a file that only its owner reads, whole or not at all; one that is there already stays. */
async function place(path: string, line: string): Promise<void> {
	if ((await readText(path)) !== null) return;
	// A name that nobody had before: a start that was cut off may have left its own, and in a container every start has
	// the same process id.
	const temporary = `${path}.${randomUUID()}.tmp`;
	try {
		await writeFile(temporary, `${line}\n`, { flag: 'wx', mode: 0o600, flush: true });
		// A link, not a rename: of two processes that start at once, the second takes the first one's file.
		await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'EEXIST') throw error;
		});
	} finally {
		await rm(temporary, { force: true });
	}
}

async function readKey(path: string): Promise<Buffer | null> {
	const text = await readText(path);
	if (text === null) return null;
	const key = Buffer.from(text, 'base64');
	if (key.length === BYTES) return key;
	throw new AppError('unavailable', `${path} does not hold a secret key of ${BYTES} bytes in base64.`);
}

async function readText(path: string): Promise<string | null> {
	try {
		return (await readFile(path, 'utf8')).trim();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
		throw error;
	}
}
