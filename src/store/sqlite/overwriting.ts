import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { StaleTerms } from './inbox/index.ts';
import { UnallocatedSpace } from './unallocated-space.ts';

/** Between two steps, for commits. */
const STEP_PAUSE_MS = 10;
/** Until the next attempt while a reader, such as a backup, needs the WAL. */
const BUSY_PAUSE_MS = 200;

/**
 * Overwrites the rest of what was erased, in steps between which the writer commits. After one pass, nothing that was deleted before
 * the pass is in the database file or in the WAL: words in the index of messages, copies of moved rows in unallocated space, and
 * the frames of the WAL.
 */
export class Overwriting {
	readonly #db: Database;
	readonly #space: UnallocatedSpace;
	readonly #truncateWal: () => boolean;
	#staleTerms: StaleTerms | undefined;

	/** @param truncateWal writes the WAL to the file and truncates it; false where readers prevent that */
	constructor(db: Database, file: string, truncateWal: () => boolean) {
		this.#db = db;
		this.#space = new UnallocatedSpace(db, file);
		this.#truncateWal = truncateWal;
	}

	/**
	 * One pass. Joins no other: call it again after it has ended.
	 * @throws where the disk fails, or the signal aborts
	 */
	async run(signal: AbortSignal): Promise<void> {
		this.#staleTerms ??= new StaleTerms(this.#db);
		this.#staleTerms.restart();
		while (this.#staleTerms.eraseNext()) await delay(STEP_PAUSE_MS, undefined, { signal });
		this.#space.restart();
		for (;;) {
			const result = this.#truncateWal() ? this.#space.eraseNext() : 'busy';
			if (result === 'end') break;
			await delay(result === 'more' ? STEP_PAUSE_MS : BUSY_PAUSE_MS, undefined, { signal });
		}
		// Commits during the pass may have logged pages that it had not reached yet.
		while (!this.#truncateWal()) await delay(BUSY_PAUSE_MS, undefined, { signal });
	}

	/** After the connection was closed. */
	close(): void {
		this.#space.close();
	}
}
