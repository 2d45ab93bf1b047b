import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, fsyncFolder, makeDurableFolder } from '../base/index.ts';
import { databaseFile, dataFolderError, lockDataFolder, RESTORE_FOLDER, requireKnownSchema } from '../store/index.ts';
import { blobPath, DATABASE } from './archive-entries.ts';
import type { Manifest } from './manifest.ts';
import { type ArchiveReader, readArchive } from './read-archive.ts';
import { ContentCheck } from './verify-backup.ts';

/** What an empty data folder may have: the secret key, which is kept apart from backups, and files without data. */
const FILES_WITHOUT_DATA = new Set(['secret.key', 'secret.check', 'parley.lock', 'backup.lock', 'cache', 'lost+found']);

export interface RestoreOptions {
	/** Made if it is missing. */
	dataDir: string;
	/** The backup. */
	file: string;
	signal: AbortSignal;
}

/**
 * Unpacks a backup into an empty data folder. Everything is checked before the database is moved into its place, which is the last step: a
 * restore that was interrupted can be repeated, and no server starts on its files.
 * @throws AppError with a sentence; the signal's reason
 */
export async function restoreBackup({ dataDir, file, signal }: RestoreOptions): Promise<Manifest> {
	try {
		makeDurableFolder(dataDir, 0o700);
		using _lock = lockDataFolder(dataDir);
		await requireEmpty(dataDir);
		const folder = join(dataDir, RESTORE_FOLDER);
		try {
			const manifest = await unpack(file, folder, signal);
			await moveIntoPlace(folder, dataDir);
			return manifest;
		} finally {
			await rm(folder, { recursive: true, force: true });
		}
	} catch (error) {
		throw dataFolderError(error, dataDir) ?? error;
	}
}

/** Removes what an interrupted restore has left. @throws AppError `unavailable` where the folder has anything else */
async function requireEmpty(dataDir: string): Promise<void> {
	const names = new Set(await readdir(dataDir));
	// The database is the last that a restore moves: without it, blobs beside the folder of a restore came with that restore.
	if (names.has(RESTORE_FOLDER) && !names.has(DATABASE)) {
		for (const name of ['blobs', RESTORE_FOLDER]) {
			await rm(join(dataDir, name), { recursive: true, force: true });
			names.delete(name);
		}
	}
	const found = [...names].find((name) => !FILES_WITHOUT_DATA.has(name));
	if (found === undefined) return;
	throw new AppError(
		'unavailable',
		`${dataDir} is not empty (it has ${found}). A restore never replaces data: set PARLEY_DATA_DIR to an empty folder.`,
	);
}

async function unpack(file: string, folder: string, signal: AbortSignal): Promise<Manifest> {
	using check = new ContentCheck(file, join(folder, DATABASE));
	const shards = new Set<string>();
	const reader: ArchiveReader = {
		manifest: ({ schema_version }) => requireKnownSchema(schema_version, `The database in ${file}`),
		async database(content) {
			await mkdir(join(folder, 'blobs'), { recursive: true, mode: 0o700 });
			await check.unpackDatabase(content);
		},
		async blob(hash, content) {
			check.requireNext(hash);
			const path = join(folder, blobPath(hash));
			const shard = dirname(path);
			if (!shards.has(shard)) await mkdir(shard);
			shards.add(shard);
			await pipeline(Readable.from(content), createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
		},
	};
	const manifest = await readArchive(file, reader, signal);
	check.requireEnd(manifest);
	for (const written of [...shards, join(folder, 'blobs'), folder]) await fsyncFolder(written);
	return manifest;
}

async function moveIntoPlace(folder: string, dataDir: string): Promise<void> {
	await rename(join(folder, 'blobs'), join(dataDir, 'blobs'));
	// Otherwise the database could be in its place after a power cut, and the blobs not.
	await fsyncFolder(dataDir);
	try {
		await rename(join(folder, DATABASE), databaseFile(dataDir));
	} catch (error) {
		// Otherwise the next restore would take the blobs for data.
		await rm(join(dataDir, 'blobs'), { recursive: true, force: true });
		throw error;
	}
	await fsyncFolder(dataDir);
}
