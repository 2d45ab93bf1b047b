import {
	AppError,
	type Clock,
	elapsedMs,
	type Log,
	PeriodicTask,
	sleep,
	systemClock,
	withDeadline,
} from '../base/index.ts';
import {
	type ClusterNode,
	LEASE_MS,
	type PlacementStore,
	type PlacementView,
	type ShardFence,
} from '../store/index.ts';
import { shardOf } from './shard-of.ts';

export interface PlacementOptions {
	store: PlacementStore;
	/** The id of this node in the store. */
	nodeId: string;
	log: Log;
	/** The shards in which something is done at this moment. They are handed over once it has ended. */
	busyShards(): ReadonlySet<number>;
	/** This node serves these shards from now on. */
	onGained?(shards: ReadonlySet<number>): void;
	/** These shards are handed over, or belong to another node: their actors are discarded at once, without saving. */
	onLost(shards: ReadonlySet<number>): void;
	/** Gets the time by the clock of the database (ms since the epoch) with each renewal. */
	onTime?(now: number): void;
	leaseMs?: number;
	renewMs?: number;
	clock?: Clock;
}

const RENEW_MS = 1_000;
/** After the end of another node's lease, its shards are taken so late (ms): timers may fire a little early. */
const AFTER_EXPIRY_MS = 20;
/** Between two looks at the owners while shards have no living one (ms). */
const UNOWNED_CHECK_MS = 100;
const LEAVE_MS = 15_000;
const LEAVE_RETRY_MS = 100;

/**
 * Which node serves what. This node serves a shard while its lease holds by its own monotonic clock, counted from before the renewal was
 * sent: by the clock of the database the lease ends later. Commits are refused by the shard's epoch in any case.
 */
export class Placement implements AsyncDisposable {
	readonly #options: PlacementOptions;
	readonly #leaseMs: number;
	readonly #renewMs: number;
	readonly #clock: Clock;
	readonly #renewals: PeriodicTask;
	#nodes = new Map<string, ClusterNode>();
	#shards: PlacementView['shards'] = [];
	/** The epochs of the shards that this node serves, by shard. */
	#served = new Map<number, number>();
	/**
	 * The last epoch of each shard that this node has given up. It serves the shard with a later one only: commits of discarded actors may
	 * be under way, and a view may be older than the release.
	 */
	readonly #givenUp = new Map<number, number>();
	/** Shards that were given up, and that the database still counts as this node's. */
	readonly #unreleased = new Map<number, number>();
	/** By the monotonic clock. */
	#leaseEnd = Number.NEGATIVE_INFINITY;
	#leaseTimer: NodeJS.Timeout | undefined;
	/** For the end of another node's lease. */
	#expiryTimer: NodeJS.Timeout | undefined;
	/** The hand-over that is under way. */
	#handOver: Promise<void> | null = null;

	constructor(options: PlacementOptions) {
		this.#options = options;
		this.#leaseMs = options.leaseMs ?? LEASE_MS;
		this.#renewMs = options.renewMs ?? RENEW_MS;
		this.#clock = options.clock ?? systemClock;
		this.#renewals = new PeriodicTask({
			intervalMs: this.#renewMs,
			run: () => this.#renew(),
			onFailure: (err) => this.#logFailedRenewal(err),
		});
	}

	/** Takes shards, and keeps the lease from now on. */
	async start(): Promise<void> {
		await this.#renewals.run();
		this.#renewals.start();
	}

	/** Renews the lease now, or joins the renewal that is under way. */
	renew(): Promise<void> {
		return this.#renewals.run();
	}

	/** What a commit about this id must carry; null where this node may not serve it. */
	fenceOf(id: string): ShardFence | null {
		const shard = shardOf(id);
		const epoch = this.#served.get(shard);
		if (epoch === undefined || !this.holdsLease) return null;
		return { shard, epoch };
	}

	/** The node that serves an id, as far as this one knows; null where its last one has ended and no other has taken over yet. */
	nodeOf(id: string): ClusterNode | null {
		const owner = this.#shards[shardOf(id)]?.owner ?? null;
		return owner === null ? null : (this.#nodes.get(owner) ?? null);
	}

	/** Whether the lease of a node holds, as far as this one knows. */
	isAlive(nodeId: string): boolean {
		return this.#nodes.has(nodeId);
	}

	/** The nodes that are alive, as far as this one knows. */
	get nodes(): ClusterNode[] {
		return [...this.#nodes.values()];
	}

	/** How many shards this node serves. */
	get served(): number {
		return this.holdsLease ? this.#served.size : 0;
	}

	/**
	 * Hands all shards over: for the end of this node. Each is handed over once nothing runs in it; after the time, all at once: what runs in
	 * them goes on at their next owners, as after a crash. Without the database, the others take them over when the lease has ended.
	 */
	async leave(deadlineMs = LEAVE_MS): Promise<void> {
		const deadline = elapsedMs(this.#clock) + deadlineMs;
		await this.#withinLease(this.#options.store.leave());
		while (this.#served.size > 0 && elapsedMs(this.#clock) < deadline) {
			// Another renewal may succeed until the time is over.
			await this.#renewals.run().catch((err: unknown) => this.#logFailedRenewal(err));
			await this.#handOver;
			if (this.#served.size > 0) await sleep(LEAVE_RETRY_MS);
		}
		await this.#handBack(this.#served.keys());
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#renewals[Symbol.asyncDispose]();
		await this.#handOver;
		clearTimeout(this.#leaseTimer);
		clearTimeout(this.#expiryTimer);
	}

	/** Whether this node may serve anything, by its own monotonic clock. */
	get holdsLease(): boolean {
		return elapsedMs(this.#clock) < this.#leaseEnd;
	}

	async #renew(): Promise<void> {
		// The timer of the lease may be late, as on a node that was frozen.
		if (!this.holdsLease) this.#giveUp(this.#served.keys());
		await this.#releaseGivenUp();
		const startedAt = elapsedMs(this.#clock);
		const view = await this.#withinLease(this.#options.store.renew(this.#leaseMs));
		if (!this.holdsLease) this.#giveUp(this.#served.keys());
		this.#leaseEnd = startedAt + this.#leaseMs;
		this.#options.onTime?.(view.now);
		if (!this.holdsLease) return;
		this.#watchLease();
		this.#accept(view);
		this.#watchOthers(view);
		const surplus = view.surplus - view.shards.filter((state, shard) => this.#isGivenUp(shard, state)).length;
		if (surplus > 0 && this.#handOver === null) {
			this.#handOver = this.#handBack(this.#idleShards(surplus)).finally(() => {
				this.#handOver = null;
			});
		}
	}

	/** Whether the database counted a shard as this node's after this node has given it up. */
	#isGivenUp(shard: number, { owner, epoch }: PlacementView['shards'][number]): boolean {
		return owner === this.#options.nodeId && epoch <= (this.#givenUp.get(shard) ?? Number.NEGATIVE_INFINITY);
	}

	#accept(view: PlacementView): void {
		this.#nodes = new Map(view.nodes.map((node) => [node.id, node]));
		this.#shards = view.shards;
		const former = this.#served;
		this.#served = new Map();
		for (const [shard, state] of view.shards.entries()) {
			if (state.owner !== this.#options.nodeId) continue;
			// A release that has found another epoch has released nothing: a standby may have lost the last change of the owner.
			if (this.#isGivenUp(shard, state)) this.#unreleased.set(shard, state.epoch);
			else this.#served.set(shard, state.epoch);
		}
		const lost = new Set(
			[...former].filter(([shard, epoch]) => this.#served.get(shard) !== epoch).map(([shard]) => shard),
		);
		if (lost.size > 0) this.#options.onLost(lost);
		const gained = new Set(
			[...this.#served].filter(([shard, epoch]) => former.get(shard) !== epoch).map(([shard]) => shard),
		);
		if (gained.size > 0) this.#options.onGained?.(gained);
	}

	#withinLease<T>(request: Promise<T>): Promise<T> {
		return withDeadline(request, this.#leaseMs, () => {
			return new AppError('unavailable', 'The database did not answer in the time of the lease.');
		});
	}

	/** When the lease ends without a renewal, other nodes may take over: nothing in memory can be relied on. */
	#watchLease(): void {
		clearTimeout(this.#leaseTimer);
		this.#leaseTimer = setTimeout(() => {
			if (this.holdsLease) return this.#watchLease();
			this.#options.log.error('the lease of this node has ended: it serves no conversations until it is renewed');
			this.#giveUp(this.#served.keys());
		}, this.#leaseEnd - elapsedMs(this.#clock));
		this.#leaseTimer.unref();
	}

	/**
	 * Renews when the lease of another node ends, so that its shards are taken without waiting for the periodic renewal. While shards have
	 * no owner, it renews soon again, to learn who takes them.
	 */
	#watchOthers(view: PlacementView): void {
		clearTimeout(this.#expiryTimer);
		const isUnowned = view.shards.some(({ owner }) => owner === null || !this.#nodes.has(owner));
		const nextExpiryMs = isUnowned ? UNOWNED_CHECK_MS : (view.nextExpiryMs ?? Number.POSITIVE_INFINITY);
		if (nextExpiryMs >= this.#renewMs) return;
		this.#expiryTimer = setTimeout(() => {
			this.#renewals.run().catch((err: unknown) => this.#logFailedRenewal(err));
		}, nextExpiryMs + AFTER_EXPIRY_MS);
		this.#expiryTimer.unref();
	}

	/** Shards in which nothing is done. Their actors can be discarded before anything else runs. */
	#idleShards(most: number): number[] {
		const busy = this.#options.busyShards();
		return [...this.#served.keys()].filter((shard) => !busy.has(shard)).slice(-most);
	}

	/** Serves these shards no more. */
	#giveUp(shards: Iterable<number>): void {
		const lost = new Set(shards);
		for (const shard of lost) {
			const epoch = this.#served.get(shard);
			if (epoch === undefined) continue;
			this.#givenUp.set(shard, epoch);
			this.#unreleased.set(shard, epoch);
			this.#served.delete(shard);
		}
		if (lost.size > 0) this.#options.onLost(lost);
	}

	async #handBack(shards: Iterable<number>): Promise<void> {
		this.#giveUp(shards);
		try {
			await this.#releaseGivenUp();
		} catch (err) {
			this.#options.log.warn({ err }, 'shards could not be handed over: the next renewal tries again');
		}
	}

	async #releaseGivenUp(): Promise<void> {
		const fences = [...this.#unreleased].map(([shard, epoch]) => ({ shard, epoch }));
		if (fences.length === 0) return;
		await this.#withinLease(this.#options.store.release(fences));
		for (const { shard, epoch } of fences) if (this.#unreleased.get(shard) === epoch) this.#unreleased.delete(shard);
	}

	#logFailedRenewal(err: unknown): void {
		this.#options.log.warn({ err }, 'the lease of this node could not be renewed');
	}
}
