import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './programs.ts';

/** A small disk, which is unmounted on dispose. */
export interface SmallDisk extends AsyncDisposable {
	folder: string;
	/** Fills it with a file; the result removes that. */
	fill(): Promise<() => Promise<void>>;
}

/** Mounts a small disk (tmpfs) on a new folder; null where this user may not. */
export async function mountSmallDisk(sizeMb: number): Promise<SmallDisk | null> {
	if (findProgram('mount') === null) return null;
	const folder = await mkdtemp(join(tmpdir(), 'parley-small-disk-'));
	const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', folder]);
	if (status !== 0) {
		await rm(folder, { recursive: true });
		return null;
	}
	return {
		folder,
		async fill() {
			const filler = join(folder, 'filler');
			const { bavail, bsize } = await statfs(folder);
			await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(() => {});
			return () => rm(filler);
		},
		async [Symbol.asyncDispose]() {
			spawnSync('umount', ['-l', folder]);
			await rm(folder, { recursive: true, force: true });
		},
	};
}

/** The reason to skip a test that needs a small disk; false where there is one. */
export async function skipWithoutSmallDisk(): Promise<string | false> {
	await using probe = await mountSmallDisk(1);
	return probe === null && 'skipped: this user may not mount a small disk (tmpfs)';
}
