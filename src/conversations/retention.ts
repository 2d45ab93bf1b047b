import { type ClockJumpDetector, type Log, messageOf, PeriodicTask, sleep } from '../base/index.ts';
import { CONVERSATION_ERASURE_JOB, type IdleConversation, type ListPosition, type Store } from '../store/index.ts';
import type { Conversations } from './conversations.ts';
import { eraseRemains } from './erasure.ts';
import type { Expiry } from './expiry.ts';

export interface RetentionOptions {
	store: Pick<Store, 'commit' | 'get' | 'hasUnerasedRows' | 'idleConversations' | 'jobs' | 'list'>;
	conversations: Pick<Conversations, 'expire'>;
	watch: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
	/** Milliseconds from one look to the next. */
	everyMs?: number | undefined;
}

const DAY_MS = 24 * 3_600_000;
/** How soon a retention that was shortened takes effect. */
const EVERY_MS = 60_000;
/** Conversations erased at once, and the messages that they may have together: so long others wait for the disk. */
const BATCH = 50;
const BATCH_MESSAGES = 1_000;
/** Between two batches, for others and for the cut of the log that takes the traces away. */
const PAUSE_MS = 200;
/** How long a conversation that is partly erased is left to who took it up. */
const LEASE_MS = 10 * 60_000;
/** Workspaces read at once. */
const PAGE = 100;

/**
 * Erases conversations that their workspace keeps no longer: in which nothing was said for more than `retention_days`,
 * whatever their status and whoever handles them; while the clock is in doubt, none. Where it was is remembered nowhere: what is left to do is what is there.
 */
export class Retention implements AsyncDisposable {
	readonly #store: RetentionOptions['store'];
	readonly #conversations: RetentionOptions['conversations'];
	readonly #watch: RetentionOptions['watch'];
	readonly #log: Log;
	readonly #rounds: PeriodicTask;

	constructor({ store, conversations, watch, log, everyMs: intervalMs = EVERY_MS }: RetentionOptions) {
		this.#store = store;
		this.#conversations = conversations;
		this.#watch = watch;
		this.#log = log;
		this.#rounds = new PeriodicTask({
			intervalMs,
			run: (signal) => this.#look(signal),
			onFailure: (error) => log.warn({ error: messageOf(error) }, 'cannot look what is kept no longer'),
		});
	}

	start(): void {
		this.#rounds.start();
	}

	/** Erases everything that is kept no longer by now; a look that is under way is joined. */
	look(): Promise<void> {
		return this.#rounds.run();
	}

	/** Begins no more batches. */
	stop(): void {
		this.#rounds.stop();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#rounds[Symbol.asyncDispose]();
	}

	async #look(signal: AbortSignal): Promise<void> {
		await this.#eraseRemains(signal);
		let after: ListPosition | undefined;
		while (!signal.aborted) {
			const page = await this.#store.list('workspaces', { where: {}, order: 'asc', after, limit: PAGE });
			for (const { id, retention_days } of page) {
				if (retention_days === null) continue;
				try {
					await this.#expireIdle(id, signal);
				} catch (error) {
					// What keeps one workspace from it is not to keep the others.
					if (signal.aborted) return;
					this.#log.warn({ workspace: id, error: messageOf(error) }, 'what is kept no longer could not be erased');
				}
			}
			const last = page.at(-1);
			if (!last || page.length < PAGE) return;
			after = { at: last.created_at, id: last.id };
		}
	}

	/** Of conversations that a process before this one had begun to erase, or this one could not finish. */
	async #eraseRemains(signal: AbortSignal): Promise<void> {
		const jobs = await this.#store.jobs.claim(CONVERSATION_ERASURE_JOB, BATCH, LEASE_MS);
		for (const { ref } of jobs) {
			if (signal.aborted) return;
			await eraseRemains(this.#store, ref);
		}
	}

	async #expireIdle(workspaceId: string, signal: AbortSignal): Promise<void> {
		let after: ListPosition | undefined;
		while (!signal.aborted) {
			// Before each batch anew: somebody may have changed their mind.
			const workspace = await this.#store.get('workspaces', workspaceId);
			if (!workspace || workspace.retention_days === null) return;
			const now = this.#watch.trustedNow();
			if (now === null) return;
			const before = now - workspace.retention_days * DAY_MS;
			const batch = batchOf(await this.#store.idleConversations(workspaceId, before, after, BATCH));
			const last = batch.at(-1);
			if (!last) return;
			await this.#expire(batch, { workspace: { id: workspace.id, version: workspace.version }, before });
			// Also past those that are in use after all: the next look finds them, if they are still there.
			after = last;
			await sleep(PAUSE_MS, signal);
		}
	}

	/** @throws the first failure where all of them failed */
	async #expire(batch: readonly IdleConversation[], expiry: Expiry): Promise<void> {
		const ends = await Promise.allSettled(batch.map(({ id }) => this.#conversations.expire(id, expiry)));
		const failures = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason as unknown);
		if (failures.length === batch.length) throw failures[0];
		const conversations = ends.filter((end) => end.status === 'fulfilled' && end.value).length;
		const failed = failures.length > 0 ? { failed: failures.length, error: messageOf(failures[0]) } : {};
		this.#log.info({ workspace: expiry.workspace.id, conversations, ...failed }, 'erased what is kept no longer');
	}
}

/** As many from the beginning as may be erased at once, and one in any case. */
function batchOf(idle: readonly IdleConversation[]): readonly IdleConversation[] {
	let messages = 0;
	const tooMany = idle.findIndex(({ message_count }, index) => {
		messages += message_count;
		return index > 0 && messages > BATCH_MESSAGES;
	});
	return tooMany < 0 ? idle : idle.slice(0, tooMany);
}
