import { existsSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { FOLDER_LOCK, tryLockFolder } from '../store/index.ts';

const PREFIX = 'parley-verify-';

/**
 * A private folder for temporary files, which a check of a backup unpacks a database into. Its lock shows that the check runs: the folder of
 * a check that was killed has the data of people, and the next check removes it.
 */
export class VerifyFolder implements AsyncDisposable {
	readonly path: string;
	readonly #lock: Disposable | null;

	private constructor(path: string, lock: Disposable | null) {
		this.path = path;
		this.#lock = lock;
	}

	/** Makes one, and removes those of killed checks. A folder that cannot be removed stays for the next check. */
	static async make(): Promise<VerifyFolder> {
		const names = await readdir(tmpdir()).catch(() => []);
		for (const name of names.filter((name) => name.startsWith(PREFIX))) {
			// Another check may be removing it, too.
			await removeLeftover(join(tmpdir(), name)).catch(() => {});
		}
		// It gets its name with the lock held. Otherwise another check could remove it before that.
		const unlocked = await mkdtemp(join(tmpdir(), 'parley-new-'));
		const lock = tryLockFolder(unlocked);
		const path = join(tmpdir(), basename(unlocked).replace('parley-new-', PREFIX));
		await rename(unlocked, path);
		return new VerifyFolder(path, lock);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await rm(this.path, { recursive: true, force: true });
		this.#lock?.[Symbol.dispose]();
	}
}

/** Other users can put anything into the folder for temporary files, such as a link to a folder of this user. */
async function isOwnFolder(path: string): Promise<boolean> {
	const found = await lstat(path).catch(() => null);
	return found?.isDirectory() === true && found.uid === process.getuid?.();
}

async function removeLeftover(path: string): Promise<void> {
	// Without a lock it is of a check by an earlier Parley, which may run.
	if (!(await isOwnFolder(path)) || !existsSync(join(path, FOLDER_LOCK))) return;
	using lock = tryLockFolder(path);
	if (lock !== null) await rm(path, { recursive: true, force: true });
}
