import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, type Clock, makeDurableFolder, requireFreeSpace, timestamp, version } from '../base/index.ts';
import {
	backupSeries,
	copyDatabase,
	DatabaseSnapshot,
	databaseFile,
	dataFolderError,
	lockForBackup,
	requireSoundLog,
} from '../store/index.ts';
import { DATABASE, END_BYTES, entryBytes } from './archive-entries.ts';
import { isDatabaseDamage, writeError } from './archive-errors.ts';
import { backupFileName, isBackupOf } from './backup-files.ts';
import { isBackupFolder, requireOutside } from './backup-folder.ts';
import { createManifest, MAX_MANIFEST_BYTES, type Manifest } from './manifest.ts';
import { checkArchive } from './verify-backup.ts';
import { requireAbsent, WorkFolder } from './work-folder.ts';
import { writeArchive } from './write-archive.ts';

export interface BackupOptions {
	dataDir: string;
	/** A file that does not exist, or a folder, in which the backup gets a name by its time. A folder that ends with a slash is made. */
	target: string;
	clock: Clock;
	signal: AbortSignal;
}

/** A finished backup. */
export interface Backup {
	file: string;
	bytes: number;
	manifest: Manifest;
}

const ARCHIVE = 'archive.tar';

/**
 * Makes a backup of a data folder, with or without a running server, and verifies it before it gets its name. A crash leaves at most a
 * hidden folder, which the next backup beside it removes.
 * @throws AppError with a sentence; the signal's reason
 */
export async function createBackup(options: BackupOptions): Promise<Backup> {
	const { dataDir, clock } = options;
	const madeAt = clock.now();
	const isInFolder = await isBackupFolder(options.target);
	const folder = isInFolder ? resolve(options.target) : dirname(resolve(options.target));
	try {
		await stat(databaseFile(dataDir));
		requireSoundLog(dataDir);
		await requireOutside(folder, dataDir);
		const series = backupSeries(dataDir);
		const file = isInFolder ? join(folder, backupFileName(series, madeAt)) : resolve(options.target);
		if (isInFolder) makeDurableFolder(folder, 0o700);
		await requireAbsent(file);
		// Until the end: another backup in the same place would take the unfinished files for those of a crash.
		using _lock = lockForBackup(dataDir);
		const isLeftBehind = (name: string) => file.endsWith(sep + name) || (isInFolder && isBackupOf(series, name));
		await using work = await WorkFolder.make(file, isLeftBehind);
		const manifest = await packDataFolder(work.path, madeAt, options);
		const archive = join(work.path, ARCHIVE);
		await checkArchive(archive, options.signal);
		const { size } = await stat(archive);
		await work.publish(ARCHIVE, file);
		return { file, bytes: size, manifest };
	} catch (error) {
		throw backupError(error, dataDir, folder);
	}
}

/** An error as a sentence about the folder that it comes from. */
function backupError(error: unknown, dataDir: string, folder: string): unknown {
	const { code, path } = error as { code?: unknown; path?: unknown };
	if (code === 'ENOENT' && path === databaseFile(dataDir)) {
		return new AppError(
			'not_found',
			`There is no database in ${dataDir}: set PARLEY_DATA_DIR to the folder of the server.`,
		);
	}
	if (isDatabaseDamage(error)) return damagedError(dataDir, error.message);
	const isOfDataFolder = typeof path === 'string' && path.startsWith(dataDir + sep) && !path.startsWith(folder + sep);
	const written = isOfDataFolder ? error : writeError(error, folder);
	return written === error ? (dataFolderError(error, dataDir) ?? error) : written;
}

function damagedError(dataDir: string, problem: string): AppError {
	return new AppError('unavailable', `The database in ${dataDir} is damaged: ${problem}. No backup was made.`);
}

/** Copies the database, checks the copy, and writes the archive. The lock of backups keeps the blobs that the copy names. */
async function packDataFolder(
	workFolder: string,
	madeAt: number,
	{ dataDir, signal }: BackupOptions,
): Promise<Manifest> {
	const copy = join(workFolder, DATABASE);
	await copyDatabase(dataDir, copy, signal, (bytes) => requireSpaceFor(workFolder, bytes));
	using snapshot = new DatabaseSnapshot(copy);
	const [problem] = snapshot.problems();
	if (problem !== undefined) throw damagedError(dataDir, problem);
	signal.throwIfAborted();
	const manifest = createManifest({
		parley_version: version(),
		schema_version: snapshot.schema,
		created_at: timestamp(madeAt),
		database: { bytes: (await stat(copy)).size, sha256: await sha256Of(copy, signal) },
		blobs: snapshot.blobTotals(),
		counts: snapshot.counts(),
	});
	await requireSpaceFor(workFolder, archiveBytes(manifest));
	const content = { manifest, databaseFile: copy, blobs: snapshot.blobs(), dataDir };
	await writeArchive(join(workFolder, ARCHIVE), content, signal);
	return manifest;
}

/** The size of an archive, or a little more. */
function archiveBytes({ database, blobs }: Manifest): number {
	return (
		2 * entryBytes(MAX_MANIFEST_BYTES) +
		entryBytes(database.bytes) +
		blobs.bytes +
		2 * entryBytes(0) * blobs.count +
		END_BYTES
	);
}

/** So that a backup that cannot be completed does not fill the disk, on which the server's data may be. */
function requireSpaceFor(folder: string, bytes: number): Promise<void> {
	return requireFreeSpace(
		folder,
		bytes,
		(needed, free) =>
			`${dirname(folder)} has too little free space: the backup needs ${needed} more, ${free} are free.`,
	);
}

async function sha256Of(file: string, signal: AbortSignal): Promise<string> {
	const hash = createHash('sha256');
	await pipeline(createReadStream(file), hash, { signal });
	return hash.digest('hex');
}
