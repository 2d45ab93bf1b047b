/** A folder cannot be unpacked into. The message says why, as the end of a sentence about the folder. */
export class UnusableFolderError extends Error {
	override readonly name = 'Unusable';
}

const REASONS: Readonly<Record<string, string>> = {
	EACCES: 'this user may not write there',
	EPERM: 'this user may not write there',
	EROFS: 'it cannot be written to (read-only file system)',
	ENOSPC: 'the disk is full',
	EDQUOT: 'the disk quota of this user is used up',
	ENOTDIR: 'a part of its path is not a folder',
	EISDIR: 'a folder is in the place of a file',
	ELOOP: 'its path has a loop of links',
	ENOENT: 'it does not exist and cannot be made',
};

/** An error of the file system as the reason why a folder cannot be used. Other errors pass unchanged. */
export function toUnusableFolderError(error: unknown): unknown {
	const { code } = error as NodeJS.ErrnoException;
	if (error instanceof UnusableFolderError || code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
	return new UnusableFolderError(REASONS[code] ?? (error as Error).message, { cause: error });
}
