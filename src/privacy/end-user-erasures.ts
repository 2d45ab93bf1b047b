import {
	AppError,
	anySignal,
	type Clock,
	deferred,
	KeyedLock,
	type Log,
	messageOf,
	newId,
	PeriodicTask,
	rejectOnAbort,
	sleep,
} from '../base/index.ts';
import type { Conversations } from '../conversations/index.ts';
import { visitorKey } from '../deployments/index.ts';
import {
	aroundCommit,
	type BackupExpiry,
	type ErasureRecord,
	type FenceOf,
	fenceOfTask,
	type ListPosition,
	NOTHING_ERASED,
	prepareChange,
	requireCommitted,
	type Store,
	type UncommittedChange,
} from '../store/index.ts';
import { completionCommit } from './completion.ts';

export interface EndUserErasuresOptions {
	store: Pick<Store, 'commit' | 'get' | 'hints' | 'list' | 'overwriteErased'>;
	conversations: Pick<Conversations, 'erase' | 'runningErasures'>;
	/** The account of a visitor's costs, by the key of the visitor. */
	visitorAccount(deploymentId: string, visitorKey: string): string;
	/** When the copies of the database that exist now are gone. */
	backupExpiry(): Promise<BackupExpiry>;
	clock: Clock;
	log: Log;
	/** Milliseconds between two runs. An erasure that fails again and again waits longer. */
	intervalMs?: number | undefined;
	/** Milliseconds that one attempt at an erasure may take. */
	attemptMs?: number | undefined;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf | undefined;
}

const INTERVAL_MS = 60_000;
/** Others wait meanwhile. */
const ATTEMPT_MS = 10 * 60_000;
/** The longest time between two attempts. */
const MAX_DELAY_MS = 3_600_000;
/** Conversations, and erasures, of one read. */
const PAGE_SIZE = 50;
/** Between two looks for rows that the actor of a long conversation still erases. */
const WAIT_MS = 100;
/** In a cluster: the longest time between two looks for conversations that came to this node, or that others still erase. */
const MAX_CLUSTER_WAIT_MS = 1_000;

/** A pass over the files, and the erasures whose rows were removed before it began. */
interface OverwritingPass {
	erasures: readonly ErasureRecord[];
	end: Promise<boolean>;
}

/**
 * Erases end users. Each erasure is a record, which is the only state: after a crash the next process continues.
 * 1. `erasing`: the actors of the end user's conversations erase them, in batches. Messages of the end user are refused; a
 *    conversation that began before the refusal is found by the next read.
 * 2. `end_erasure` ends this in the transaction that finds nothing left, and forgets the end user.
 * 3. `overwriting`: what stays of the rows in the files is overwritten.
 * 4. `done`: committed with the receipt in the audit log.
 *
 * An erasure that fails, or takes too long, is tried again after growing delays, and does not hold up the others. The
 * overwriting does not hold them up either: it waits as long as a backup, or a program that replicates the database, reads it.
 *
 * In a cluster each node erases the conversations that it serves, until no erasure is `erasing`. One node does all the rest.
 */
export class EndUserErasures implements AsyncDisposable {
	readonly #options: EndUserErasuresOptions;
	readonly #task: PeriodicTask;
	/** Erasures that have failed in this process, by their id: how often, and when each is tried again (in monotonic time). */
	readonly #failed = new Map<string, { failures: number; notBefore: number }>();
	/** Two requests at once make one erasure. */
	readonly #locks = new KeyedLock();
	#isRequested = false;
	/** Resolves with the next request. */
	#nextRequest = deferred<void>();
	#unsubscribe: () => void = () => {};
	/** The next process continues. */
	#isStopped = false;

	constructor(options: EndUserErasuresOptions) {
		this.#options = options;
		this.#task = new PeriodicTask({
			intervalMs: options.intervalMs ?? INTERVAL_MS,
			run: (signal) => this.#continueAll(signal),
			onFailure: (error) => options.log.warn({ error: messageOf(error) }, 'erasures of end users were interrupted'),
		});
	}

	start(): void {
		this.#task.start();
		this.#unsubscribe = this.#options.store.hints?.subscribe('erasures', () => this.#wake()) ?? this.#unsubscribe;
	}

	/** Begins no more steps. */
	stop(): void {
		this.#isStopped = true;
		this.#unsubscribe();
		this.#task.stop();
	}

	/** Starts the erasure of an end user. If one removes rows already, that is the result. */
	request(workspaceId: string, endUserId: string): UncommittedChange<ErasureRecord> {
		const { store, clock } = this.#options;
		const change = prepareChange(store, async () => {
			const running = await this.#runningFor(workspaceId, endUserId);
			if (running) return { commit: null, result: running };
			const now = clock.now();
			const record = {
				id: newId('erasure'),
				workspace_id: workspaceId,
				status: 'erasing' as const,
				end_user_id: endUserId,
				visitor_key: visitorKey(endUserId, ''),
				counts: NOTHING_ERASED,
				erased_at: null,
				completed_at: null,
				backups: null,
				created_at: now,
				updated_at: now,
			};
			return { commit: { write: [{ op: 'insert', kind: 'erasures', record }] }, result: { ...record, version: 1 } };
		});
		return aroundCommit(change, async (commit) => {
			const record = await this.#locks.run(`${workspaceId} ${endUserId}`, () =>
				commit().catch(async (error: unknown) => {
					// Another node has begun one at the same time: the database has one for each end user.
					const running = await this.#runningFor(workspaceId, endUserId);
					if (running === undefined) throw error;
					return running;
				}),
			);
			store.hints?.publish('erasures', [record.id]);
			this.#wake();
			return record;
		});
	}

	/** Continues all erasures; joins a run that has begun. */
	run(): Promise<void> {
		return this.#task.run();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isStopped = true;
		await this.#task[Symbol.asyncDispose]();
	}

	async #runningFor(workspace_id: string, end_user_id: string): Promise<ErasureRecord | undefined> {
		const query = { where: { workspace_id, end_user_id }, order: 'asc', limit: 1 } as const;
		return (await this.#options.store.list('erasures', query))[0];
	}

	#wake(): void {
		if (this.#isStopped) return;
		this.#isRequested = true;
		this.#nextRequest.resolve();
		this.#nextRequest = deferred();
		this.#task
			.run()
			.then(() => {
				// The run may have ended its last read before the request.
				if (this.#isRequested && !this.#isStopped) this.#wake();
			})
			.catch((error: unknown) => {
				this.#options.log.warn({ error: messageOf(error) }, 'erasures of end users were interrupted');
			});
	}

	async #continueAll(signal: AbortSignal): Promise<void> {
		this.#isRequested = false;
		await this.#options.conversations.runningErasures.refresh();
		let pass: OverwritingPass | undefined;
		for (let waitMs = WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_CLUSTER_WAIT_MS)) {
			const request = this.#nextRequest.promise;
			const erasing = await this.#withStatus('erasing');
			const overwriting = this.#isResponsible ? await this.#withStatus('overwriting') : [];
			if (signal.aborted || erasing.length + overwriting.length === 0) return;
			for (const erasure of erasing) await this.#attempt(erasure, signal, (until) => this.#eraseRows(erasure, until));
			if (erasing.length === 0) {
				// Many erasures share one pass over the files.
				pass ??= this.#startPass(overwriting);
				if (!(await this.#hasEnded(pass, request, signal))) continue;
				await this.#complete(pass.erasures, signal);
				pass = undefined;
			} else if (this.#options.fenceOf !== undefined) await sleep(waitMs, signal);
		}
	}

	/** Waits for the end of a pass. @returns false if there is other work first: a request, or an erasure that had failed */
	async #hasEnded({ end }: OverwritingPass, request: Promise<void>, signal: AbortSignal): Promise<boolean> {
		const { intervalMs = INTERVAL_MS } = this.#options;
		const waited = new AbortController();
		const other = Promise.race([request, sleep(intervalMs, waited.signal)]).then(() => false);
		try {
			return await rejectOnAbort(Promise.race([end, other]), signal);
		} finally {
			waited.abort();
		}
	}

	/** Whether this node does what is not about conversations. */
	get #isResponsible(): boolean {
		return fenceOfTask(this.#options.fenceOf, 'erasures') !== null;
	}

	/** The oldest erasures of a status, without those that failed a moment ago. */
	async #withStatus(status: ErasureRecord['status']): Promise<ErasureRecord[]> {
		const now = performance.now();
		const due: ErasureRecord[] = [];
		let after: ListPosition | undefined;
		while (due.length < PAGE_SIZE) {
			const page = await this.#options.store.list('erasures', {
				where: { status },
				after,
				order: 'asc',
				limit: PAGE_SIZE,
			});
			due.push(...page.filter(({ id }) => now >= (this.#failed.get(id)?.notBefore ?? now)));
			const last = page.at(-1);
			if (last === undefined || page.length < PAGE_SIZE) break;
			after = { at: last.created_at, id: last.id };
		}
		return due;
	}

	/** One attempt at a step of an erasure. A failure is logged, and postpones this erasure only. */
	async #attempt(
		{ id, workspace_id }: ErasureRecord,
		signal: AbortSignal,
		step: (until: AbortSignal) => Promise<void>,
	): Promise<void> {
		const { log, intervalMs = INTERVAL_MS, attemptMs = ATTEMPT_MS } = this.#options;
		const limit = AbortSignal.timeout(attemptMs);
		const until = anySignal(signal, limit);
		try {
			await rejectOnAbort(step(until), until);
			this.#failed.delete(id);
		} catch (error) {
			if (signal.aborted) return;
			const failures = (this.#failed.get(id)?.failures ?? 0) + 1;
			const delayMs = Math.min(intervalMs * 2 ** (failures - 1), MAX_DELAY_MS);
			this.#failed.set(id, { failures, notBefore: performance.now() + delayMs });
			const problem = limit.aborted ? 'It takes too long.' : messageOf(error);
			const facts = {
				erasure: id,
				workspace: workspace_id,
				error: problem,
				retry_seconds: Math.round(delayMs / 1_000),
			};
			log.warn(facts, 'the erasure of an end user was interrupted');
		}
	}

	/** Where other nodes erase rows as well, this does not wait for them: the next attempt follows soon. */
	async #eraseRows(erasure: ErasureRecord, signal: AbortSignal): Promise<void> {
		const { id, workspace_id, end_user_id } = erasure;
		const { store, clock, fenceOf } = this.#options;
		while (!signal.aborted) {
			if (end_user_id !== null) await this.#eraseConversations(workspace_id, end_user_id, signal);
			if (!this.#isResponsible) return;
			await this.#eraseInDeployments(erasure, signal);
			await store.commit({ write: [{ op: 'end_erasure', id, at: clock.now() }] });
			if (fenceOf !== undefined || (await store.get('erasures', id))?.status !== 'erasing') return;
			await sleep(WAIT_MS, signal);
		}
	}

	/** Sums of costs, and responses to refused requests, outlive the conversations of a visitor, or come without one. */
	async #eraseInDeployments({ id, workspace_id, visitor_key }: ErasureRecord, signal: AbortSignal): Promise<void> {
		const { store, visitorAccount } = this.#options;
		if (visitor_key === null) return;
		for (let after: ListPosition | undefined; !signal.aborted; ) {
			const query = { where: { workspace_id }, after, order: 'asc', limit: PAGE_SIZE } as const;
			const page = await store.list('deployments', query);
			const last = page.at(-1);
			if (last === undefined) return;
			const visitor_ids = page.map((deployment) => visitorAccount(deployment.id, visitor_key));
			const scopes = page.map((deployment) => `${deployment.id} ${visitor_key} `);
			await store.commit({
				write: [
					{ op: 'spending.erase_visitors', erasure_id: id, workspace_id, visitor_ids },
					{ op: 'erase_refusals', erasure_id: id, scopes },
				],
			});
			after = { at: last.created_at, id: last.id };
		}
	}

	async #eraseConversations(workspace_id: string, end_user_id: string, signal: AbortSignal): Promise<void> {
		const { store, conversations, fenceOf } = this.#options;
		for (let after: ListPosition | undefined; !signal.aborted; ) {
			const query = { where: { workspace_id, end_user_id }, after, order: 'asc', limit: PAGE_SIZE } as const;
			const page = await store.list('conversations', query);
			const last = page.at(-1);
			if (last === undefined) return;
			after = { at: last.created_at, id: last.id };
			for (const { id } of page) {
				if (signal.aborted) return;
				if (fenceOf?.(id) === null) continue;
				try {
					await conversations.erase(id, { workspaceId: workspace_id, versions: null });
				} catch (error) {
					// Erased by another request, or it is long and its actor still erases the rest: `end_erasure` waits for both.
					const isGone = error instanceof AppError && (await store.get('conversations', id)) === undefined;
					// Another node serves it now, and erases it.
					if (!isGone && fenceOf?.(id) !== null) throw error;
				}
			}
		}
	}

	/** Overwrites what stays of erasures. It waits for readers such as a backup. */
	#startPass(erasures: readonly ErasureRecord[]): OverwritingPass {
		const end = this.#options.store.overwriteErased().then(() => true);
		// Its failure is thrown where its end is awaited.
		end.catch(() => {});
		return { erasures, end };
	}

	/** Completes erasures whose remains were overwritten. */
	async #complete(erasures: readonly ErasureRecord[], signal: AbortSignal): Promise<void> {
		const { store, clock, log, backupExpiry } = this.#options;
		for (const erasure of erasures) {
			if (signal.aborted) return;
			await this.#attempt(erasure, signal, async () => {
				const commit = await completionCommit(store, erasure, await backupExpiry(), clock.now());
				requireCommitted(await store.commit(commit));
				log.info({ erasure: erasure.id, workspace: erasure.workspace_id }, 'an end user was erased');
			});
		}
	}
}
