/** A place cannot be unpacked into. The message says why, as the end of a sentence about the place. */
export class UnusableFolderError extends Error {
	override readonly name = 'Unusable';
}

const REASONS: Readonly<Record<string, string>> = {
	EACCES: 'this user may not write there',
	EPERM: 'this user may not write there',
	EROFS: 'it cannot be written to (read-only file system)',
	ENOSPC: 'the disk is full',
	EDQUOT: 'the disk quota of this user is used up',
	ENOTDIR: 'a part of its path is no folder',
	EISDIR: 'a folder lies where a file belongs',
	ELOOP: 'its path goes round in circles',
	ENOENT: 'it does not exist and cannot be made',
};

/** What speaks against a place, from a failure of the file system in it. Other errors pass as they are. */
export function toUnusableFolderError(error: unknown): unknown {
	const { code } = error as NodeJS.ErrnoException;
	if (error instanceof UnusableFolderError || code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
	return new UnusableFolderError(REASONS[code] ?? (error as Error).message, { cause: error });
}
