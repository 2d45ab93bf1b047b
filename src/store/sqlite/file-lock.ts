import { accessSync, chownSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../../base/index.ts';

/** Longer than a server holds the lock of backups while it removes a blob. */
const BACKUP_LOCK_MS = 5_000;
/** The file that locks a folder. */
export const FOLDER_LOCK = 'parley.lock';

/**
 * Holds the data directory as its only server, until it is disposed or the process ends.
 * @throws AppError `unavailable` while a server runs there
 */
export function lockDataFolder(dataDir: string): Disposable {
	const lock = tryLockFolder(dataDir);
	if (lock) return lock;
	const message = `Another Parley is running on ${dataDir}. Stop it, or choose another PARLEY_DATA_DIR.`;
	throw new AppError('unavailable', message);
}

/** Holds a folder for one process, until it is disposed or the process ends; null where another holds it. */
export function tryLockFolder(folder: string): Disposable | null {
	return lockFile(join(folder, FOLDER_LOCK), 0);
}

/**
 * Prevents the removal of blobs, and another backup, until it is disposed or the process ends. Take it before the snapshot of the
 * database: then every blob that the snapshot names stays.
 * @throws AppError `unavailable` while another backup runs
 */
export function lockForBackup(dataDir: string, timeoutMs = BACKUP_LOCK_MS): Disposable {
	const lock = lockFile(backupLockFile(dataDir), timeoutMs);
	if (lock) return lock;
	throw new AppError('unavailable', `Another backup of ${dataDir} is running. Try again when it has ended.`);
}

/** Tells a server whether a backup, of any process, holds the blobs of its data directory. */
export class BackupLockMonitor implements Disposable {
	readonly #path: string;
	/** Opened once: it is asked for each removed blob. */
	#lock: Database.Database | undefined;

	constructor(dataDir: string) {
		this.#path = backupLockFile(dataDir);
	}

	/**
	 * Whether a backup holds the blobs. A backup that starts after this answer has a snapshot that is younger than all commits
	 * before it.
	 */
	isHeld(): boolean {
		if (this.#lock === undefined) {
			if (statSync(this.#path, { throwIfNoEntry: false }) === undefined) return false;
			requireWritable(this.#path);
			this.#lock = openLock(this.#path, 0);
		}
		if (!tryLock(this.#lock)) return true;
		this.#lock.exec('ROLLBACK');
		return false;
	}

	[Symbol.dispose](): void {
		this.#lock?.close();
		this.#lock = undefined;
	}
}

const backupLockFile = (dataDir: string) => join(dataDir, 'backup.lock');

/**
 * Holds an exclusive lock on a file; null where another holds it. The operating system releases it when the process ends, even
 * after SIGKILL, so no stale lock can remain.
 */
function lockFile(path: string, timeoutMs: number): Disposable | null {
	const lock = openLock(path, timeoutMs);
	let isLocked = false;
	try {
		if (tryLock(lock)) {
			requireWritable(path);
			isLocked = true;
		}
	} finally {
		if (!isLocked) lock.close();
	}
	return isLocked ? { [Symbol.dispose]: () => void lock.close() } : null;
}

function openLock(path: string, timeoutMs: number): Database.Database {
	return new Database(path, { timeout: timeoutMs });
}

/**
 * A file that this user may only read can be locked, but another process can lock it at the same time.
 * @throws AppError `unavailable`
 */
function requireWritable(path: string): void {
	try {
		const owner = statSync(dirname(path));
		// A command of root must not leave a file that the server's user cannot write.
		if (process.getuid?.() === 0) chownSync(path, owner.uid, owner.gid);
		accessSync(path, constants.W_OK);
	} catch (cause) {
		throw new AppError('unavailable', `This user may not write ${path}. Give the file to the server's user.`, {
			cause,
		});
	}
}

function tryLock(lock: Database.Database): boolean {
	try {
		lock.pragma('journal_mode = MEMORY');
		lock.exec('BEGIN EXCLUSIVE');
		return true;
	} catch (error) {
		if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return false;
		throw error;
	}
}
