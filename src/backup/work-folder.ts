import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError, fsyncFolder } from '../base/index.ts';

/** File systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

/** A private folder beside a backup that is being made. It is removed with everything that was not published. */
export class WorkFolder implements AsyncDisposable {
	readonly path: string;

	private constructor(path: string) {
		this.path = path;
	}

	/**
	 * Makes one, and removes those that crashes have left.
	 * @param leftBehind whether the folder of work on a file of this name may be removed
	 */
	static async make(target: string, leftBehind: (fileName: string) => boolean): Promise<WorkFolder> {
		const folder = dirname(target);
		for (const name of await readdir(folder)) {
			const fileName = /^\.(.+)\.[0-9a-f]{16}\.partial$/.exec(name)?.[1];
			if (fileName !== undefined && leftBehind(fileName))
				await rm(join(folder, name), { recursive: true, force: true });
		}
		const path = join(folder, `.${basename(target)}.${randomBytes(8).toString('hex')}.partial`);
		await mkdir(path, { mode: 0o700 });
		return new WorkFolder(path);
	}

	/** Gives a finished file, which was synced, its final name. @throws AppError `unavailable` where that name exists */
	async publish(name: string, target: string): Promise<void> {
		const file = join(this.path, name);
		try {
			// A link and not a rename, which would replace a file.
			await link(file, target);
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			if (code === 'EEXIST') throw existsError(target);
			if (code === undefined || !NO_LINKS.has(code)) throw error;
			await requireAbsent(target);
			await rename(file, target);
		}
		await fsyncFolder(dirname(target));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await rm(this.path, { recursive: true, force: true });
	}
}

/** @throws AppError `unavailable` where a path exists */
export async function requireAbsent(path: string): Promise<void> {
	const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return null;
		throw error;
	});
	if (found !== null) throw existsError(path);
}

function existsError(path: string): AppError {
	return new AppError('unavailable', `${path} exists already. A backup never replaces a file.`);
}
