import { existsSync, statSync } from 'node:fs';
import type { MessagePort } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { makeDurableFolder, messageOf } from '../../base/index.ts';
import { damagedDatabaseError, dataFolderError } from '../data-folder-error.ts';
import { removeRestoreLeftovers, requireCompleteRestore } from '../interrupted-restore.ts';
import { GONE_CODE } from '../write-health.ts';
import { databaseFile, openWritable, WRITER_BUSY_MS } from './connection.ts';
import { lockDataFolder } from './file-lock.ts';
import { requireContent } from './lost-database.ts';
import { migrate, requireSchema } from './migrations.ts';
import { Overwriting } from './overwriting.ts';
import { copyBeforeMigration, finishUpgrade } from './upgrade-copy.ts';
import { requireSoundLog } from './wal-repair.ts';
import {
	currentFence,
	type Fence,
	failureOf,
	takeFence,
	Writer,
	type WriterFailure,
	type WriterOutcome,
	type WriterTask,
} from './writer.ts';

/**
 * `server` owns the data directory alone and migrates it; `exclusive_tool` owns it alone; `tool` writes beside a running server. Tools
 * refuse another schema: after a migration the former Parley cannot be started, so only a start of the server does it.
 */
export type StoreRole = 'server' | 'exclusive_tool' | 'tool';

/** The arguments of the thread. */
export interface WriterThreadData {
	dataDir: string;
	role: StoreRole;
	owner: string;
}

/** To the thread: tasks that share one transaction, the order to overwrite what was erased, or the order to close. */
export type ToWriter = { tasks: WriterTask[] } | 'overwrite' | 'close';

/**
 * From the thread: ready, refused to start, the outcomes of the tasks of one message in their order, how many orders to overwrite
 * have been carried out (or have failed), or closed.
 */
export type FromWriter =
	| { ready: true; fence: Fence }
	| { refused: string }
	| { outcomes: WriterOutcome[] }
	| { troubled: WriterFailure }
	| { overwritten: number; failure?: WriterFailure }
	| { closed: true };

const PRESENCE_CHECK_MS = 1000;
const DATABASE_GONE = 'The database file was moved, deleted or replaced while the server was running.';

/** Erasures within this time share one truncation of the WAL. */
const WAL_TRUNCATE_DELAY_MS = 200;
/** How long a truncation waits for readers while the server runs. */
const TRUNCATE_BUSY_MS = 20;
/** The delay of the next truncation after an error of the disk. */
const FAILED_TRUNCATE_DELAY_MS = 5_000;

/** Runs the writer thread: opens and migrates the database, takes the fence, then commits what arrives. */
export async function runWriterThread(port: MessagePort, data: WriterThreadData): Promise<void> {
	const post = (message: FromWriter) => port.postMessage(message);
	try {
		const opened = await openDatabase(data);
		const thread = new WriterThread(port, opened, databaseFile(data.dataDir));
		port.on('message', (message: ToWriter) => thread.receive(message));
		post({ ready: true, fence: opened.fence });
	} catch (error) {
		const known = dataFolderError(error, data.dataDir) ?? damagedDatabaseError(error, data.dataDir);
		const message = messageOf(known ?? error);
		const isComplete = message.includes(data.dataDir);
		post({ refused: isComplete ? message : `The database in ${data.dataDir} cannot be opened: ${message}` });
		port.close();
	}
}

interface OpenedDatabase {
	db: Database.Database;
	/** Absent beside a running server. */
	lock: Disposable | undefined;
	fence: Fence;
}

async function openDatabase({ dataDir, role, owner }: WriterThreadData): Promise<OpenedDatabase> {
	makeDurableFolder(dataDir, 0o700);
	const isOwner = role !== 'tool';
	const lock = isOwner ? lockDataFolder(dataDir) : undefined;
	requireCompleteRestore(dataDir, databaseFile(dataDir));
	requireSoundLog(dataDir);
	// Opening would make the file.
	if (isOwner && !existsSync(databaseFile(dataDir))) requireContent(null, dataDir);
	const db = openWritable(databaseFile(dataDir));
	if (role === 'server') {
		requireContent(db, dataDir);
		await removeRestoreLeftovers(dataDir);
		await copyBeforeMigration(db, dataDir);
		migrate(db);
		await finishUpgrade(dataDir);
	} else requireSchema(db);
	return { db, lock, fence: isOwner ? takeFence(db, 'main', owner) : currentFence(db, 'main') };
}

/** Commits each message as one transaction, until the order to close. */
class WriterThread {
	readonly #port: MessagePort;
	readonly #db: Database.Database;
	readonly #lock: Disposable | undefined;
	readonly #writer: Writer;
	readonly #presence: DatabasePresence;
	readonly #overwriting: Overwriting;
	readonly #closing = new AbortController();
	#truncateTimer: NodeJS.Timeout | undefined;
	/** Orders to overwrite that wait for the next pass. */
	#overwriteOrders = 0;
	#isOverwriting = false;

	constructor(port: MessagePort, { db, lock, fence }: OpenedDatabase, file: string) {
		this.#port = port;
		this.#db = db;
		this.#lock = lock;
		this.#writer = new Writer(db, fence);
		this.#presence = new DatabasePresence(file);
		this.#overwriting = new Overwriting(db, file, () => {
			const failure = this.#presence.check();
			if (failure !== undefined) throw new Error(failure.message);
			const hindrance = this.#truncateWal(TRUNCATE_BUSY_MS);
			if (hindrance === undefined || hindrance === 'busy') return hindrance === undefined;
			throw Object.assign(new Error(hindrance.message), { code: hindrance.code });
		});
	}

	receive(message: ToWriter): void {
		if (message === 'close') {
			this.#close();
			return;
		}
		if (message === 'overwrite') {
			this.#overwriteOrders++;
			if (!this.#isOverwriting) void this.#overwriteErased();
			return;
		}
		const { tasks } = message;
		const failure = this.#presence.check();
		const outcomes = failure === undefined ? this.#writer.run(tasks) : tasks.map((): WriterOutcome => failure);
		this.#post({ outcomes });
		if (tasks.some(isErasure)) this.#truncateTimer ??= setTimeout(() => this.#truncateErased(), WAL_TRUNCATE_DELAY_MS);
	}

	/** Erased data stays in the WAL until it is truncated. Readers may delay that for a moment, a full disk for longer. */
	#truncateErased(): void {
		this.#truncateTimer = undefined;
		// Commits wait meanwhile: a reader that stays, such as a backup, must not delay them for long.
		const hindrance = this.#truncateWal(TRUNCATE_BUSY_MS);
		if (hindrance === undefined) return;
		if (hindrance !== 'busy') this.#post({ troubled: hindrance });
		const delayMs = hindrance === 'busy' ? WAL_TRUNCATE_DELAY_MS : FAILED_TRUNCATE_DELAY_MS;
		this.#truncateTimer = setTimeout(() => this.#truncateErased(), delayMs);
	}

	/** Checkpoints and truncates the WAL. Returns what prevented it, or undefined. @param busyMs how long it waits for readers */
	#truncateWal(busyMs: number): WriterFailure | 'busy' | undefined {
		try {
			this.#db.pragma(`busy_timeout = ${busyMs}`);
			const [result] = this.#db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
			return result.busy === 0 ? undefined : 'busy';
		} catch (error) {
			return failureOf(error);
		} finally {
			this.#db.pragma(`busy_timeout = ${WRITER_BUSY_MS}`);
		}
	}

	/** Passes, until no order waits. An order that arrives during a pass needs another one. */
	async #overwriteErased(): Promise<void> {
		this.#isOverwriting = true;
		while (this.#overwriteOrders > 0 && !this.#closing.signal.aborted) {
			const overwritten = this.#overwriteOrders;
			this.#overwriteOrders = 0;
			try {
				await this.#overwriting.run(this.#closing.signal);
				this.#post({ overwritten });
			} catch (error) {
				if (!this.#closing.signal.aborted) this.#post({ overwritten, failure: failureOf(error) });
			}
		}
		this.#isOverwriting = false;
	}

	#close(): void {
		clearTimeout(this.#truncateTimer);
		this.#closing.abort();
		// If it fails, the next start finds the commits in the WAL.
		this.#truncateWal(WRITER_BUSY_MS);
		this.#db.close();
		this.#overwriting.close();
		this.#lock?.[Symbol.dispose]();
		this.#post({ closed: true });
		this.#port.close();
	}

	#post(message: FromWriter): void {
		this.#port.postMessage(message);
	}
}

/**
 * Checks, once a second at most, that the database file is still in its place. A commit to a file that was moved or deleted
 * would be acknowledged and lost.
 */
class DatabasePresence {
	readonly #file: string;
	readonly #inode: number;
	#checkedAt = performance.now();
	#failure: WriterFailure | undefined;

	constructor(file: string) {
		this.#file = file;
		this.#inode = statSync(file).ino;
	}

	/** Why nothing may be written; undefined when the file is in its place. */
	check(): WriterFailure | undefined {
		if (performance.now() - this.#checkedAt < PRESENCE_CHECK_MS) return this.#failure;
		this.#checkedAt = performance.now();
		try {
			const found = statSync(this.#file, { throwIfNoEntry: false });
			const isPresent = found?.ino === this.#inode;
			this.#failure = isPresent ? undefined : { ok: false, message: DATABASE_GONE, code: GONE_CODE };
		} catch (error) {
			this.#failure = failureOf(error);
		}
		return this.#failure;
	}
}

function isErasure(task: WriterTask): boolean {
	return task.task === 'commit' && (task.commit.write ?? []).some(({ op }) => op.startsWith('erase_'));
}
