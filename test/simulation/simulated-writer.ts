import type { Database } from 'better-sqlite3';
import type { Commit } from '../../src/store/commit.ts';
import type { WriterPort } from '../../src/store/sqlite/sqlite-store.ts';
import { type Fence, Writer, type WriterOutcome, type WriterTask } from '../../src/store/sqlite/writer.ts';
import type { FromWriter, ToWriter } from '../../src/store/sqlite/writer-thread.ts';
import { SHARD_FENCED } from './cluster/cluster-store.ts';
import type { NodeLink } from './cluster/node-link.ts';
import type { Owner, Scheduler } from './scheduler.ts';

/** What happens to one transaction of the writer. */
export type WriterFault =
	| 'none'
	/** Nothing is written: the disk is full or fails, or SQLite refuses this one. */
	| 'refused'
	/**
	 * The sync of the WAL fails: the caller gets an error, and so does each later one. The process ends soon, and the next one finds the
	 * transaction in the WAL.
	 */
	| 'committed-with-error'
	/** It is committed, and no answer comes. The process ends soon. */
	| 'silent'
	/** The process ends before the transaction, or after it and before its answer. */
	| 'killed-before'
	| 'killed-after'
	/** The disk does not answer for some time. */
	| 'stalled'
	/** In a cluster: the transaction, or its answer, is late. */
	| 'late-request'
	| 'late-answer';

export interface WriterHost {
	scheduler: Scheduler;
	/** Decides about the next transaction. */
	nextFault(tasks: readonly WriterTask[], owner: Owner): WriterFault;
	/** Ends the process. */
	kill(owner: Owner): void;
	/** A transaction is committed. */
	onCommitted(tasks: readonly WriterTask[], outcomes: readonly WriterOutcome[], owner: Owner): void;
}

/** How the writer of a node reaches the database of its cluster. */
export interface WriterLink extends Pick<NodeLink, 'request' | 'respond'> {
	/** Whether a commit may be made by the node: decided in its transaction. */
	admits(commit: Commit): boolean;
}

const MAX_LATE_MS = 8_000;
const CODES = ['SQLITE_FULL', 'SQLITE_IOERR_FSYNC', 'SQLITE_BUSY', undefined] as const;

/** The writer thread of one process: executes the real SQL in this thread, and answers later or never. In a cluster, its database. */
export class SimulatedWriter implements WriterPort {
	readonly #host: WriterHost;
	readonly #writer: Writer;
	readonly #owner: Owner;
	/** Null: there is one process. */
	readonly #link: WriterLink | null;
	/** A transaction that is in the WAL, but whose commit has failed. */
	#unsynced: WriterTask[] | null = null;
	#listener: (message: FromWriter) => void = () => {};

	constructor(host: WriterHost, db: Database, fence: Fence, owner: Owner, link: WriterLink | null = null) {
		this.#link = link;
		this.#host = host;
		this.#writer = new Writer(db, fence);
		this.#owner = owner;
	}

	postMessage(message: ToWriter): void {
		if (message === 'close') return;
		// The database is in memory: it has no files with remains.
		if (message === 'overwrite') {
			this.#later('to writer', this.#latency(), () => this.#listener({ overwritten: 1 }));
			return;
		}
		// As a thread gets it: a copy, which later changes of the sender do not reach.
		const { tasks } = structuredClone(message);
		if (this.#link) this.#link.request('to database', () => this.#execute(tasks));
		else this.#later('to writer', this.#latency(), () => this.#execute(tasks));
	}

	on(event: string, listener: never): void {
		if (event === 'message') this.#listener = listener;
	}

	async terminate(): Promise<void> {}

	/** The process has ended: the next one recovers what is in the WAL. */
	recover(): void {
		if (this.#unsynced) this.#commit(this.#unsynced);
		this.#unsynced = null;
	}

	#execute(tasks: WriterTask[]): void {
		const { scheduler } = this.#host;
		if (this.#unsynced) {
			this.#answer(this.#failures(tasks));
			return;
		}
		// What an ended process has sent is carried out all the same.
		const fault = this.#owner.isAlive ? this.#host.nextFault(tasks, this.#owner) : 'none';
		if (fault !== 'none') scheduler.trace(`writer: ${fault}`);
		switch (fault) {
			case 'refused':
				this.#answer(this.#failures(tasks));
				return;
			case 'killed-before':
				this.#host.kill(this.#owner);
				return;
			case 'late-request':
				this.#link?.request(
					'late to database',
					() => this.#answer(this.#commit(tasks)),
					scheduler.random.next() * MAX_LATE_MS,
				);
				return;
			case 'late-answer': {
				const outcomes = this.#commit(tasks);
				this.#later('late', scheduler.random.next() * MAX_LATE_MS, () => this.#answer(outcomes));
				return;
			}
			case 'stalled':
				this.#later('stalled writer', scheduler.random.next() * 40_000, () => this.#answer(this.#commit(tasks)));
				return;
			case 'committed-with-error':
				this.#unsynced = tasks;
				this.#answer(this.#failures(tasks));
				this.#killSoon();
				return;
			case 'silent':
				this.#commit(tasks);
				this.#killSoon();
				return;
			case 'killed-after':
				this.#commit(tasks);
				this.#host.kill(this.#owner);
				return;
			case 'none':
				this.#answer(this.#commit(tasks));
		}
	}

	#killSoon(): void {
		this.#later('', this.#host.scheduler.random.next() * 5_000, () => this.#host.kill(this.#owner));
	}

	#commit(tasks: WriterTask[]): WriterOutcome[] {
		const { admitted, complete } = this.#admit(tasks);
		const outcomes = this.#writer.run(admitted);
		this.#host.onCommitted(admitted, outcomes, this.#owner);
		return complete(outcomes);
	}

	/** Leaves out the commits whose fence belongs to an earlier owner of their shard. */
	#admit(tasks: WriterTask[]): { admitted: WriterTask[]; complete(outcomes: WriterOutcome[]): WriterOutcome[] } {
		const isAdmitted = (task: WriterTask) => !this.#link || task.task !== 'commit' || this.#link.admits(task.commit);
		const admissions = tasks.map(isAdmitted);
		const fenced = { ok: true, value: { outcome: SHARD_FENCED } } as unknown as WriterOutcome;
		if (admissions.includes(false)) this.#host.scheduler.trace('database: a commit is fenced');
		return {
			admitted: tasks.filter((_, at) => admissions[at]),
			complete(outcomes) {
				const remaining = [...outcomes];
				return admissions.map((isCommitted) => (isCommitted ? (remaining.shift() as WriterOutcome) : fenced));
			},
		};
	}

	#failures(tasks: readonly WriterTask[]): WriterOutcome[] {
		const code = this.#host.scheduler.random.pick(CODES);
		return tasks.map(() => ({ ok: false, message: 'A simulated fault.', ...(code === undefined ? {} : { code }) }));
	}

	#answer(outcomes: WriterOutcome[]): void {
		if (this.#link) {
			this.#link.respond('from database', () => this.#listener({ outcomes }));
			return;
		}
		this.#later('from writer', this.#latency(), () => this.#listener({ outcomes }));
	}

	/** The store sends one message at a time, so the order of messages needs no channel. */
	#later(label: string, delayMs: number, run: () => void): void {
		this.#host.scheduler.schedule({ label, delayMs, owner: this.#owner, run });
	}

	#latency(): number {
		const { random } = this.#host.scheduler;
		return random.chance(0.1) ? random.next() * 50 : random.next() * 2;
	}
}
