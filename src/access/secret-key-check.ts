import { stat } from 'node:fs/promises';
import { AppError } from '../base/index.ts';
import type { Readers } from '../store/index.ts';
import {
	fingerprint,
	fingerprintFile,
	keyFile,
	LOST_KEY_REMEDY,
	readKey,
	readText,
	SECRET_KEY_FACT,
} from './secret-key-files.ts';

/**
 * A key that matches its database, or a sentence that names the problem and the remedy. `isLost`: a start replaces the key if nothing
 * is encrypted with it.
 */
export type KeyCheck = { key: Buffer } | { problem: string; isLost: boolean };

/** The permission bits of group and others. */
const GROUP_OR_OTHERS_ACCESS = 0o077;

/**
 * Compares the key in use with the key of the database. Changes nothing.
 * @param configuredKey `PARLEY_SECRET_KEY`
 * @param isShared whether servers share the database: then the folder has no part in this
 */
export async function checkSecretKey(
	store: Pick<Readers, 'get'>,
	dataDir: string,
	configuredKey: string | undefined,
	isShared = false,
): Promise<KeyCheck> {
	const path = keyFile(dataDir);
	const name = configuredKey === undefined ? path : 'PARLEY_SECRET_KEY';
	const storedFingerprint = await store.get('server_facts', SECRET_KEY_FACT);
	let key: Buffer | null;
	try {
		key = configuredKey === undefined ? await readKey(path) : Buffer.from(configuredKey, 'base64');
	} catch (error) {
		// Without a fingerprint in the database, the operator has put the file there.
		if (error instanceof AppError) return { problem: error.message, isLost: storedFingerprint !== undefined };
		const { code } = error as NodeJS.ErrnoException;
		return {
			problem: `${path} cannot be read (${code}): make it a file that the server's user can read.`,
			isLost: false,
		};
	}
	if (key === null) return { problem: `${path} is missing. ${LOST_KEY_REMEDY}`, isLost: true };
	const expectedFingerprint = storedFingerprint?.value ?? (isShared ? null : await readText(fingerprintFile(dataDir)));
	if (expectedFingerprint !== null && expectedFingerprint !== fingerprint(key)) {
		const place = isShared ? 'the PostgreSQL database' : dataDir;
		return {
			problem: `${name} is not the key with which the secrets in ${place} were encrypted. ${LOST_KEY_REMEDY}`,
			isLost: true,
		};
	}
	return { key };
}

/** A sentence about a problem with the permissions of the key's file; null where there is none, or no file. */
export async function checkKeyPermissions(dataDir: string): Promise<string | null> {
	const path = keyFile(dataDir);
	const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return null;
		throw error;
	});
	if (found === null || (found.mode & GROUP_OR_OTHERS_ACCESS) === 0) return null;
	return `${path} is open to other users of this machine (mode ${(found.mode & 0o777).toString(8)}): run chmod 600 ${path}`;
}
