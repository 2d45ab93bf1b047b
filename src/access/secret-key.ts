import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

const BYTES = 32;

/**
 * The server's secret: what keeps cursors from being forged. Made on the first start, in a file that only its owner reads.
 */
export async function loadSecretKey(dataDir: string): Promise<Buffer> {
	const path = join(dataDir, 'secret.key');
	const found = await readKey(path);
	if (found) return found;
	await mkdir(dataDir, { recursive: true, mode: 0o700 });
	const temporary = `${path}.${process.pid}.tmp`;
	const file = await open(temporary, 'wx', 0o600);
	try {
		await file.writeFile(`${randomBytes(BYTES).toString('base64')}\n`);
		await file.sync();
	} finally {
		await file.close();
	}
	// A link, not a rename: of two processes that start at once, the second takes the first one's key.
	await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
		if (error.code !== 'EEXIST') throw error;
	});
	await rm(temporary);
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
	if (key.length !== BYTES) throw new Error(`${path} does not hold a secret key of ${BYTES} bytes in base64.`);
	return key;
}
