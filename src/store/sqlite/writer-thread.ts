import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { makeDurableFolder, messageOf } from '../../base/index.ts';
import { dataFolderError } from '../data-folder-error.ts';
import { GONE_CODE } from '../write-health.ts';
import { databaseFile, openWritable } from './connection.ts';
import { migrate, requireSchema } from './migrations.ts';
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

/** What the thread is started with. */
export interface WriterThreadData {
	dataDir: string;
	/** `server` owns the data directory alone; `tool` writes beside a running server. */
	role: 'server' | 'tool';
	owner: string;
}

/** To the thread: the tasks of one event-loop turn, or the order to close. */
export type ToWriter = { first: number; tasks: WriterTask[] } | 'close';

/** From the thread: ready, refused to start, outcomes of consecutive tasks, or closed. */
export type FromWriter =
	| { ready: true; fence: Fence }
	| { refused: string }
	| { first: number; outcomes: WriterOutcome[] }
	| { troubled: WriterFailure }
	| { closed: true };

const PRESENCE_CHECK_MS = 1000;
const DATABASE_GONE = 'The database file was moved, deleted or replaced while the server was running.';

/** Many erasures in a row share one cut of the log. */
const WAL_TRUNCATE_DELAY_MS = 200;
/** Until the log is cut again after an error of the disk. */
const TROUBLED_TRACES_MS = 5_000;

function isErasure(task: WriterTask): boolean {
	return task.task === 'commit' && (task.commit.write ?? []).some(({ op }) => op.startsWith('erase_'));
}

/** Tasks that share one transaction at most. */
const MAX_BATCH_TASKS = 512;

/** The life of the writer thread: open, migrate, take the fence, then commit whatever arrives, in batches. */
export function runWriterThread(port: MessagePort, data: WriterThreadData): void {
	const post = (message: FromWriter) => port.postMessage(message);
	let lock: Database.Database | undefined;
	let db: Database.Database;
	let writer: Writer;
	let fence: Fence;
	try {
		makeDurableFolder(data.dataDir, 0o700);
		if (data.role === 'server') lock = lockDirectory(data.dataDir);
		db = openWritable(databaseFile(data.dataDir));
		if (data.role === 'server') migrate(db);
		else requireSchema(db);
		fence = data.role === 'server' ? takeFence(db, 'main', data.owner) : currentFence(db, 'main');
		writer = new Writer(db, fence);
	} catch (error) {
		const message = dataFolderError(error, data.dataDir)?.message ?? messageOf(error);
		post({
			refused: message.includes(data.dataDir)
				? message
				: `The database in ${data.dataDir} cannot be opened: ${message}`,
		});
		port.close();
		return;
	}

	/** Writes the log into the database and cuts it; what keeps it from that, undefined where nothing does. */
	const cutLog = (): WriterFailure | 'busy' | undefined => {
		try {
			const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
			return result.busy === 0 ? undefined : 'busy';
		} catch (error) {
			return failureOf(error);
		}
	};

	// What was erased is still in the log until that is cut; readers may hold it up for a moment, a full disk for longer.
	let truncateTimer: NodeJS.Timeout | undefined;
	const truncateWal = (): void => {
		truncateTimer = undefined;
		const hindrance = cutLog();
		if (hindrance === undefined) return;
		if (hindrance !== 'busy') post({ troubled: hindrance });
		truncateTimer = setTimeout(truncateWal, hindrance === 'busy' ? WAL_TRUNCATE_DELAY_MS : TROUBLED_TRACES_MS);
	};

	const close = () => {
		clearTimeout(truncateTimer);
		// Where it fails, the next start finds in the log what was committed.
		cutLog();
		db.close();
		lock?.close();
		post({ closed: true });
		port.close();
	};

	// A commit to a file that nobody finds any more would be acknowledged and lost: look where it is, once a second at most.
	const openedInode = statSync(databaseFile(data.dataDir)).ino;
	let checkedAt = performance.now();
	let absent: WriterFailure | undefined;
	const look = (): WriterFailure | undefined => {
		if (performance.now() - checkedAt < PRESENCE_CHECK_MS) return absent;
		checkedAt = performance.now();
		try {
			const found = statSync(databaseFile(data.dataDir), { throwIfNoEntry: false });
			absent = found?.ino === openedInode ? undefined : { ok: false, message: DATABASE_GONE, code: GONE_CODE };
		} catch (error) {
			absent = failureOf(error);
		}
		return absent;
	};

	const next = () => receiveMessageOnPort(port)?.message as ToWriter | undefined;

	/** Commits this message together with all that have arrived since; false when the order to close was among them. */
	const groupCommit = (first: Exclude<ToWriter, 'close'>): boolean => {
		const messages = [first];
		const tasks = [...first.tasks];
		let nextMessage: ToWriter | undefined;
		while (tasks.length < MAX_BATCH_TASKS) {
			nextMessage = next();
			if (nextMessage === undefined || nextMessage === 'close') break;
			messages.push(nextMessage);
			tasks.push(...nextMessage.tasks);
		}
		const failure = look();
		const outcomes = failure === undefined ? writer.run(tasks) : tasks.map((): WriterOutcome => failure);
		let at = 0;
		for (const message of messages) {
			post({ first: message.first, outcomes: outcomes.slice(at, at + message.tasks.length) });
			at += message.tasks.length;
		}
		if (tasks.some(isErasure)) truncateTimer ??= setTimeout(truncateWal, WAL_TRUNCATE_DELAY_MS);
		return nextMessage !== 'close';
	};

	const onMessage = (message: ToWriter): void => {
		let current: ToWriter | undefined = message;
		while (current !== undefined && current !== 'close' && groupCommit(current)) {
			current = next();
			if (current === undefined) return;
		}
		close();
	};
	port.on('message', onMessage);
	post({ ready: true, fence });
}

/**
 * Holds an exclusive lock on a file of the directory for as long as the process lives: the operating system lets go of it
 * also after SIGKILL, so no stale lock can be left behind.
 */
function lockDirectory(dataDir: string): Database.Database {
	const lock = new Database(join(dataDir, 'parley.lock'), { timeout: 0 });
	try {
		lock.pragma('journal_mode = MEMORY');
		lock.exec('BEGIN EXCLUSIVE');
		return lock;
	} catch (error) {
		lock.close();
		if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) {
			throw new Error(`Another Parley is running on ${dataDir}. Stop it, or choose another PARLEY_DATA_DIR.`);
		}
		throw error;
	}
}
