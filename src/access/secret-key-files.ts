import { createHmac, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../base/index.ts';

/** The length of the server's secret key. */
export const KEY_BYTES = 32;

/** The fact in the database that holds the fingerprint of the key. */
export const SECRET_KEY_FACT = 'secret_key';

/** The file of the key. */
export const keyFile = (dataDir: string): string => join(dataDir, 'secret.key');
/** The file of the key's fingerprint. */
export const fingerprintFile = (dataDir: string): string => join(dataDir, 'secret.check');

/** A fingerprint of a key, from which the key cannot be derived. */
export function fingerprint(key: Buffer): string {
	return createHmac('sha256', key).update('parley secret key').digest('hex');
}

/** Creates a file, readable by its owner only, atomically. An existing file is kept. */
export async function createFileOnce(path: string, line: string): Promise<void> {
	if ((await readText(path)) !== null) return;
	// A unique name: a start that crashed may have left its temporary file, and in a container every start has the same process id.
	const temporary = `${path}.${randomUUID()}.tmp`;
	try {
		await writeFile(temporary, `${line}\n`, { flag: 'wx', mode: 0o600, flush: true });
		// A link, not a rename: of two processes that start at once, the second uses the file of the first.
		await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'EEXIST') throw error;
		});
	} finally {
		await rm(temporary, { force: true });
	}
}

/**
 * The key in a file; null where there is none.
 * @throws UnreadableKeyError
 */
export async function readKey(path: string): Promise<Buffer | null> {
	const text = await readText(path);
	if (text === null) return null;
	const key = Buffer.from(text, 'base64');
	if (key.length === KEY_BYTES) return key;
	throw new UnreadableKeyError(path);
}

/** The trimmed text of a file; null where there is none. */
export async function readText(path: string): Promise<string | null> {
	try {
		return (await readFile(path, 'utf8')).trim();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
		throw error;
	}
}

/** The file of the key does not hold a key. */
export class UnreadableKeyError extends AppError {
	constructor(path: string) {
		super('unavailable', `${path} does not hold a secret key of ${KEY_BYTES} bytes in base64. ${LOST_KEY_REMEDY}`);
	}
}

/** What an operator can do when the key is lost. */
export const LOST_KEY_REMEDY = 'Bring the key back, or reset the secrets: "parley secrets reset" lists them first.';
