import { AppError, messageOf } from './errors.ts';

/** How the messages of shortages end. */
const RETRIED = 'This work is retried until it succeeds.';

/**
 * The system lacks something that every task needs: descriptors, memory, processes or disk space. The failed task is not at
 * fault, so it is retried until it succeeds.
 */
export class ResourceShortage extends AppError {
	constructor(sentence: string, cause: unknown) {
		super('unavailable', `${sentence} ${RETRIED}`, { retry_after: 1, cause });
	}
}

/** Shortages by error code. An error from another thread or process has lost its code and is recognised by its message. */
const SHORTAGES: ReadonlyArray<readonly [code: RegExp, message: RegExp | null, sentence: string]> = [
	[/^(EMFILE|ENFILE)$/, /^(EMFILE|ENFILE): /, 'The server has no free file descriptors.'],
	[
		/^(ENOMEM|EAGAIN|SQLITE_NOMEM|ERR_WORKER_INIT_FAILED)$/,
		/^(ENOMEM|EAGAIN): /,
		'The server has too little memory or too many processes.',
	],
	[/^(ENOSPC|EDQUOT|SQLITE_FULL)$/, /^(ENOSPC|EDQUOT): |^database or disk is full/, 'The disk of the server is full.'],
	[
		/^(EROFS|SQLITE_(IOERR|CANTOPEN|READONLY|BUSY|LOCKED)|WRITES_STALLED|WRITER_ENDED|DATABASE_GONE)/,
		/^unable to open database file/,
		'The database or the disk of the server cannot be used.',
	],
];

/** A thrown value as a shortage; null when no error in its chain of causes is one. */
export function shortageOf(thrown: unknown): ResourceShortage | null {
	for (let error = thrown; error instanceof Error; error = error.cause) {
		if (error instanceof ResourceShortage) return error;
		const { code } = error as { code?: unknown };
		const found = SHORTAGES.find(([codes]) => typeof code === 'string' && codes.test(code));
		if (found) return new ResourceShortage(found[2], thrown);
	}
	return null;
}

/** As `shortageOf`, for an error from another thread or process. */
export function shortageFromWorker(thrown: unknown): ResourceShortage | null {
	const known = shortageOf(thrown);
	if (known) return known;
	const message = messageOf(thrown);
	if (message.endsWith(` ${RETRIED}`)) return new ResourceShortage(message.slice(0, -RETRIED.length - 1), thrown);
	const found = SHORTAGES.find(([, messages]) => messages?.test(message));
	return found ? new ResourceShortage(found[2], thrown) : null;
}
