import { type Deferred, deferred, messageOf } from '../../base/index.ts';
import type { WriterOutcome, WriterTask } from './writer.ts';
import type { ToWriter } from './writer-thread.ts';

/** Tasks that share one transaction at most. */
const MAX_BATCH_TASKS = 512;

/** A task whose outcome is not known yet. */
interface PendingTask {
	readonly task: WriterTask;
	readonly done: Deferred<WriterOutcome>;
}

/**
 * The tasks that wait for the writer thread. An idle writer gets the tasks of one tick at once. While it works, tasks collect here, and
 * all of them leave together when it answers: they share the next transaction.
 */
export class WriterQueue {
	readonly #post: (message: ToWriter) => void;
	readonly #onOutcome: (task: WriterTask, outcome: WriterOutcome) => void;
	#waiting: PendingTask[] = [];
	/** Batches that the writer did not answer yet: one; more when the store closes, and after a batch that could not be sent whole. */
	#batches: PendingTask[][] = [];
	#size = 0;

	/**
	 * @param post sends a message to the writer; throws for a value that cannot be cloned
	 * @param onOutcome is called for each task in the order of the transactions, before its caller continues
	 */
	constructor(post: (message: ToWriter) => void, onOutcome: (task: WriterTask, outcome: WriterOutcome) => void) {
		this.#post = post;
		this.#onOutcome = onOutcome;
	}

	/** Tasks without an outcome. */
	get size(): number {
		return this.#size;
	}

	/** Adds a task. Resolves with its outcome; never rejects. */
	add(task: WriterTask): Promise<WriterOutcome> {
		const done = deferred<WriterOutcome>();
		this.#size++;
		const isFirst = this.#waiting.push({ task, done }) === 1;
		if (isFirst && this.#batches.length === 0) process.nextTick(() => this.#sendIfIdle());
		return done.promise;
	}

	/** Takes the outcomes of the oldest batch. The writer gets its next batch before anything is done with them. */
	receive(outcomes: readonly WriterOutcome[]): void {
		const batch = this.#batches.shift() ?? [];
		this.#sendIfIdle();
		for (const [position, pending] of batch.entries()) this.#settle(pending, outcomes[position] as WriterOutcome);
	}

	/** Sends everything that waits, although the writer is busy. */
	sendAll(): void {
		while (this.#waiting.length > 0) this.#sendBatch();
	}

	/** The writer has ended: nothing that waits is written. */
	failAll(message: string): void {
		const pending = [...this.#batches.flat(), ...this.#waiting];
		this.#batches = [];
		this.#waiting = [];
		for (const each of pending) this.#settle(each, { ok: false, message });
	}

	#sendIfIdle(): void {
		while (this.#batches.length === 0 && this.#waiting.length > 0) this.#sendBatch();
	}

	#sendBatch(): void {
		const batch = this.#waiting.splice(0, MAX_BATCH_TASKS);
		try {
			this.#postBatch(batch);
		} catch {
			for (const pending of batch) this.#postAlone(pending);
		}
	}

	#postBatch(batch: PendingTask[]): void {
		if (batch.length === 0) return;
		this.#post({ tasks: batch.map(({ task }) => task) });
		this.#batches.push(batch);
	}

	/** A value that cannot be cloned (a function, for example) fails the task that has it, not the others. */
	#postAlone(pending: PendingTask): void {
		try {
			this.#postBatch([pending]);
		} catch (error) {
			this.#settle(pending, { ok: false, message: messageOf(error) });
		}
	}

	#settle({ task, done }: PendingTask, outcome: WriterOutcome): void {
		this.#size--;
		this.#onOutcome(task, outcome);
		done.resolve(outcome);
	}
}
