import { statfs } from 'node:fs/promises';
import { AppError } from './errors.ts';
import { formatBytes } from './format-bytes.ts';

/**
 * Refuses work that would fill the disk of a folder.
 * @param sentence says what is needed and what is free, both formatted
 * @throws AppError `unavailable`
 */
export async function requireFreeSpace(
	folder: string,
	bytes: number,
	sentence: (needed: string, free: string) => string,
): Promise<void> {
	const { bavail, bsize } = await statfs(folder);
	if (bavail * bsize >= bytes) return;
	throw new AppError('unavailable', sentence(formatBytes(bytes), formatBytes(bavail * bsize)));
}
