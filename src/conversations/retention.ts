import { type ClockJumpDetector, DAY_MS, type Log, messageOf, PeriodicTask, sleep } from '../base/index.ts';
import {
	CONVERSATION_ERASURE_JOB,
	type FenceOf,
	type IdleConversation,
	type ListPosition,
	type Store,
} from '../store/index.ts';
import type { Conversations } from './conversations.ts';
import { eraseRemainingRows } from './erasure.ts';
import type { Expiry } from './expiry.ts';

export interface RetentionOptions {
	store: Pick<Store, 'commit' | 'conversations' | 'get' | 'jobs' | 'list'>;
	conversations: Pick<Conversations, 'expire'>;
	jumpDetector: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
	/** Milliseconds between sweeps. */
	intervalMs?: number | undefined;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf | undefined;
}

/** A shortened retention takes effect within this time. */
const SWEEP_INTERVAL_MS = 60_000;
/** Conversations erased at once, and the messages that they may have together: other commits wait for the disk that long. */
const BATCH_CONVERSATIONS = 50;
const BATCH_MESSAGES = 1_000;
/** Between two batches, for other commits and for the truncation of the log, which removes the erased text. */
const BATCH_PAUSE_MS = 200;
/** The lease of a job that erases the rest of a conversation. */
const LEASE_MS = 10 * 60_000;
/** Workspaces, or deployments, read at once. */
const PAGE_SIZE = 100;
const PAGE_PAUSE_MS = 5;

/**
 * Erases conversations whose retention is over: without a message for more than `retention_days` of their deployment, or of their
 * workspace where the deployment has none, whatever their status and handler. While the clock is suspect, it erases nothing. It stores no progress: the next sweep finds what is left.
 *
 * In a cluster each node erases the conversations that it serves. What it loses during a sweep, the next sweep of another node finds.
 */
export class Retention implements AsyncDisposable {
	readonly #store: RetentionOptions['store'];
	readonly #conversations: RetentionOptions['conversations'];
	readonly #jumpDetector: RetentionOptions['jumpDetector'];
	readonly #log: Log;
	readonly #fenceOf: FenceOf | undefined;
	readonly #periodicTask: PeriodicTask;

	constructor({ store, conversations, jumpDetector, log, intervalMs, fenceOf }: RetentionOptions) {
		this.#store = store;
		this.#fenceOf = fenceOf;
		this.#conversations = conversations;
		this.#jumpDetector = jumpDetector;
		this.#log = log;
		this.#periodicTask = new PeriodicTask({
			intervalMs: intervalMs ?? SWEEP_INTERVAL_MS,
			run: (signal) => this.#sweep(signal),
			onFailure: (error) => log.warn({ error: messageOf(error) }, 'the retention sweep failed'),
		});
	}

	start(): void {
		this.#periodicTask.start();
	}

	/** Erases everything whose retention is over by now; joins a sweep that is running. */
	sweep(): Promise<void> {
		return this.#periodicTask.run();
	}

	/** Begins no more batches. */
	stop(): void {
		this.#periodicTask.stop();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#periodicTask[Symbol.asyncDispose]();
	}

	async #sweep(signal: AbortSignal): Promise<void> {
		await this.#eraseRemainingRows(signal);
		let after: ListPosition | undefined;
		while (!signal.aborted) {
			const page = await this.#store.list('workspaces', { where: {}, order: 'asc', after, limit: PAGE_SIZE });
			for (const { id, retention_days } of page) {
				try {
					const hasOwn = await this.#store.conversations.hasDeploymentRetention(id);
					if (hasOwn) await this.#expireByDeployment(id, retention_days, signal);
					else if (retention_days !== null) await this.#expireIdle(id, null, signal);
				} catch (error) {
					// What keeps one workspace from it is not to keep the others.
					if (signal.aborted) return;
					this.#log.warn({ workspace: id, error: messageOf(error) }, 'expired conversations could not be erased');
				}
			}
			const last = page.at(-1);
			if (!last || page.length < PAGE_SIZE) return;
			after = { at: last.created_at, id: last.id };
		}
	}

	/** Of conversations that a process before this one had begun to erase, or this one could not finish. */
	async #eraseRemainingRows(signal: AbortSignal): Promise<void> {
		const jobs = await this.#store.jobs.claim(CONVERSATION_ERASURE_JOB, BATCH_CONVERSATIONS, LEASE_MS);
		for (const { ref } of jobs) {
			if (signal.aborted) return;
			await eraseRemainingRows(this.#store, ref);
		}
	}

	/** Where a deployment keeps conversations longer, each sweep would read all of them in the list of the workspace. */
	async #expireByDeployment(workspace_id: string, days: number | null, signal: AbortSignal): Promise<void> {
		let after: ListPosition | undefined;
		while (!signal.aborted) {
			const query = { where: { workspace_id }, order: 'asc', after, limit: PAGE_SIZE } as const;
			const page = await this.#store.list('deployments', query);
			for (const { id, retention_days } of page) {
				if ((retention_days ?? days) !== null) await this.#expireIdle(workspace_id, id, signal);
			}
			const last = page.at(-1);
			if (!last || page.length < PAGE_SIZE) return;
			after = { at: last.created_at, id: last.id };
			// The reads themselves do not let other work run.
			await sleep(PAGE_PAUSE_MS, signal);
		}
	}

	/** @param deploymentId null: of all deployments without an own retention */
	async #expireIdle(workspaceId: string, deploymentId: string | null, signal: AbortSignal): Promise<void> {
		const { conversations } = this.#store;
		let after: ListPosition | undefined;
		while (!signal.aborted) {
			// Read before each batch: the retention may have changed.
			const workspace = await this.#store.get('workspaces', workspaceId);
			const deployment = deploymentId === null ? undefined : await this.#store.get('deployments', deploymentId);
			const days = deployment?.retention_days ?? workspace?.retention_days ?? null;
			if (!workspace || days === null) return;
			const now = this.#jumpDetector.trustedNow();
			if (now === null) return;
			const idleSince = now - days * DAY_MS;
			const idle = deployment
				? await conversations.idleInDeployment(deployment, idleSince, after, BATCH_CONVERSATIONS)
				: await conversations.idle(workspaceId, idleSince, after, BATCH_CONVERSATIONS);
			const batch = batchOf(idle);
			const last = batch.at(-1);
			if (!last) return;
			// Conversations that are in use are skipped: the next sweep finds them.
			after = last;
			const own = batch.filter(({ id }) => this.#fenceOf?.(id) !== null);
			if (own.length === 0) continue;
			await this.#expire(own, { workspace: { id: workspace.id, version: workspace.version }, idleSince });
			await sleep(BATCH_PAUSE_MS, signal);
		}
	}

	/** @throws the first failure, if all failed */
	async #expire(batch: readonly IdleConversation[], expiry: Omit<Expiry, 'deployment_version'>): Promise<void> {
		const results = await Promise.allSettled(
			batch.map(({ id, deployment_version }) => this.#conversations.expire(id, { ...expiry, deployment_version })),
		);
		const failures = results.filter((end) => end.status === 'rejected').map(({ reason }) => reason as unknown);
		if (failures.length === batch.length) throw failures[0];
		const conversations = results.filter((end) => end.status === 'fulfilled' && end.value).length;
		const failed = failures.length > 0 ? { failed: failures.length, error: messageOf(failures[0]) } : {};
		this.#log.info({ workspace: expiry.workspace.id, conversations, ...failed }, 'erased expired conversations');
	}
}

/** The first conversations, as many as may be erased at once, and at least one. */
function batchOf(idle: readonly IdleConversation[]): readonly IdleConversation[] {
	let messages = 0;
	const tooMany = idle.findIndex(({ message_count }, index) => {
		messages += message_count;
		return index > 0 && messages > BATCH_MESSAGES;
	});
	return tooMany < 0 ? idle : idle.slice(0, tooMany);
}
