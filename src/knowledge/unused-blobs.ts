import { type Log, messageOf } from '../base/index.ts';
import type { Store } from '../store/index.ts';

/** Files that are removed concurrently. */
const MAX_CONCURRENT_REMOVALS = 8;
/** Milliseconds between checks whether files may be removed. */
const CHECK_MS = 2_000;

export interface UnusedBlobsDependencies {
	store: Pick<Store, 'blobs' | 'documents' | 'isBackupRunning' | 'isWritable'>;
	log: Log;
	/** Milliseconds between checks whether files may be removed. */
	checkMs?: number;
}

/**
 * Removes stored files that no document refers to. While a backup runs they wait for its end, because its copy of the database may
 * name them. While commits fail they wait, too: a commit that failed may be on the disk, and be there after a crash, until another one
 * succeeds. If the server stops before, its next start removes them as orphans.
 */
export class UnusedBlobs implements Disposable {
	readonly #store: UnusedBlobsDependencies['store'];
	readonly #log: Log;
	readonly #checkMs: number;
	#waiting = new Set<string>();
	#timer: NodeJS.Timeout | undefined;
	#isDisposed = false;

	constructor({ store, log, checkMs = CHECK_MS }: UnusedBlobsDependencies) {
		this.#store = store;
		this.#log = log;
		this.#checkMs = checkMs;
	}

	/** Removes a file, unless a document refers to it. */
	async remove(hash: string): Promise<void> {
		await this.#store.blobs.exclusive(hash, async () => {
			if (await this.#store.documents.isBlobInUse(hash)) return;
			// In this order: a backup that starts after the second question has a copy in which no document refers to the file.
			if (this.#store.isBackupRunning() || !this.#store.isWritable()) this.#postpone(hash);
			else await this.#store.blobs.remove(hash);
		});
	}

	/** Removes those of the given files that no document refers to. */
	async removeAll(hashes: Iterable<string>): Promise<void> {
		const rest = hashes[Symbol.iterator]();
		const removeRest = async () => {
			for (let next = rest.next(); !next.done; next = rest.next()) await this.remove(next.value);
		};
		await Promise.all(Array.from({ length: MAX_CONCURRENT_REMOVALS }, removeRest));
	}

	/** Removes all files that no document refers to. */
	async removeOrphans(signal: AbortSignal): Promise<void> {
		for await (const hash of this.#store.blobs.list()) {
			signal.throwIfAborted();
			await this.remove(hash);
		}
	}

	[Symbol.dispose](): void {
		this.#isDisposed = true;
		clearTimeout(this.#timer);
	}

	#postpone(hash: string): void {
		this.#waiting.add(hash);
		if (this.#isDisposed || this.#timer !== undefined) return;
		this.#timer = setTimeout(() => void this.#removeWaiting(), this.#checkMs);
		this.#timer.unref();
	}

	/** Tries again; files that must still wait are postponed again. */
	async #removeWaiting(): Promise<void> {
		this.#timer = undefined;
		const hashes = this.#waiting;
		this.#waiting = new Set();
		try {
			await this.removeAll(hashes);
		} catch (error) {
			// The store may be closed by now.
			if (!this.#isDisposed) this.#log.error({ error: messageOf(error) }, 'unused files could not be removed');
		}
	}
}
