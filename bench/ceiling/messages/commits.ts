import { Worker } from 'node:worker_threads';

type Value = string | number | null;

/** The rows of one transaction, as the columns of their tables in order. */
export interface CeilingCommit {
	conversation?: Value[];
	messages?: Value[][];
	/** Content, time, id. */
	endedReply?: Value[];
	/** Title, time, id. */
	endedConversation?: Value[];
	events: Value[][];
}

/** Commits by a writer thread. While it writes, further commits wait and share the next fsync; an idle one gets them at once. */
export class CeilingCommits implements Disposable {
	readonly #thread: Worker;
	#waiting: CeilingCommit[] = [];
	#waitingDone: (() => void)[] = [];
	#writtenDone: (() => void)[] = [];

	/** @param file the database, created if it does not exist */
	constructor(file: string) {
		this.#thread = new Worker(new URL('./writer.mjs', import.meta.url), { workerData: file });
		this.#thread.on('message', () => this.#settle());
		this.#thread.on('error', (error) => {
			throw error;
		});
	}

	/** @param done is called when the commit is on disk */
	add(commit: CeilingCommit, done: () => void): void {
		this.#waiting.push(commit);
		this.#waitingDone.push(done);
		if (this.#writtenDone.length === 0) this.#send();
	}

	[Symbol.dispose](): void {
		void this.#thread.terminate();
	}

	#send(): void {
		this.#thread.postMessage(this.#waiting);
		this.#writtenDone = this.#waitingDone;
		this.#waiting = [];
		this.#waitingDone = [];
	}

	#settle(): void {
		const settled = this.#writtenDone;
		this.#writtenDone = [];
		if (this.#waiting.length > 0) this.#send();
		for (const done of settled) done();
	}
}
