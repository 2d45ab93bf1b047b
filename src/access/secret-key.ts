import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../base/index.ts';

const BYTES = 32;

/**
 * The server's secret: what keeps cursors from being forged. Made on the first start, in a file that only its owner reads.
 */
export async function loadSecretKey(dataDir: string): Promise<Buffer> {
	const path = join(dataDir, 'secret.key');
	const found = await readKey(path);
	if (found) return found;
	await mkdir(dataDir, { recursive: true, mode: 0o700 });
	// A name that nobody had before: a start that was cut off may have left its own, and in a container every start has
	// the same process id.
	const temporary = `${path}.${randomUUID()}.tmp`;
	try {
		await writeFile(temporary, `${randomBytes(BYTES).toString('base64')}\n`, { flag: 'wx', mode: 0o600, flush: true });
		// A link, not a rename: of two processes that start at once, the second takes the first one's key.
		await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'EEXIST') throw error;
		});
	} finally {
		await rm(temporary, { force: true });
	}
	return (await readKey(path)) as Buffer;
}

async function readKey(path: string): Promise<Buffer | null> {
	let text: string;
	try {
		text = await readFile(path, 'utf8');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
		throw error;
	}
	const key = Buffer.from(text.trim(), 'base64');
	if (key.length !== BYTES)
		throw new AppError('unavailable', `${path} does not hold a secret key of ${BYTES} bytes in base64.`);
	return key;
}
