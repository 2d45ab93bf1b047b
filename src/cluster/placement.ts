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
import type { ClusterNode, PlacementStore, PlacementView, ShardFence } from '../store/index.ts';
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

/** How long a lease holds after its renewal (ms). The shards of a node that ends are taken over within this and one renewal. */
const LEASE_MS = 3_000;
const RENEW_MS = 1_000;
const LEAVE_MS = 15_000;
const LEAVE_RETRY_MS = 100;

/**
 * Which node serves what. This node serves a shard while its lease holds by its own monotonic clock, counted from before the renewal was
 * sent: by the clock of the database the lease ends later. Commits are refused by the shard's epoch in any case.
 */
export class Placement implements AsyncDisposable {
	readonly #options: PlacementOptions;
	readonly #leaseMs: number;
	readonly #clock: Clock;
	readonly #renewals: PeriodicTask;
	#nodes = new Map<string, ClusterNode>();
	#shards: PlacementView['shards'] = [];
	/** The epochs of the shards that this node serves, by shard. */
	#served = new Map<number, number>();
	readonly #handingOver = new Set<number>();
	/** What this node served when its lease ended. It is given up before the next renewal. */
	readonly #ended = new Set<number>();
	/** By the monotonic clock. */
	#leaseEnd = Number.NEGATIVE_INFINITY;
	#leaseTimer: NodeJS.Timeout | undefined;
	/** The hand-over that is under way. */
	#handOver: Promise<void> | null = null;

	constructor(options: PlacementOptions) {
		this.#options = options;
		this.#leaseMs = options.leaseMs ?? LEASE_MS;
		this.#clock = options.clock ?? systemClock;
		this.#renewals = new PeriodicTask({
			intervalMs: options.renewMs ?? RENEW_MS,
			run: () => this.#renew(),
			onFailure: (err) => options.log.warn({ err }, 'the lease of this node could not be renewed'),
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
		if (epoch === undefined || this.#handingOver.has(shard) || !this.holdsLease) return null;
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
		return this.holdsLease ? this.#served.size - this.#handingOver.size : 0;
	}

	/**
	 * Hands all shards over: for the end of this node. Each is handed over once nothing runs in it; after the time, all at once: what runs in
	 * them goes on at their next owners, as after a crash. Without the database, the others take them over when the lease has ended.
	 */
	async leave(deadlineMs = LEAVE_MS): Promise<void> {
		const deadline = elapsedMs(this.#clock) + deadlineMs;
		await this.#options.store.leave();
		while (this.#served.size > 0 && elapsedMs(this.#clock) < deadline) {
			await this.#renewals.run();
			await this.#handOver;
			if (this.#served.size > 0) await sleep(LEAVE_RETRY_MS);
		}
		await this.#release(new Set(this.#served.keys()));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#renewals[Symbol.asyncDispose]();
		await this.#handOver;
		clearTimeout(this.#leaseTimer);
	}

	/** Whether this node may serve anything, by its own monotonic clock. */
	get holdsLease(): boolean {
		return elapsedMs(this.#clock) < this.#leaseEnd;
	}

	async #renew(): Promise<void> {
		const { store } = this.#options;
		const ended = [...this.#ended];
		if (ended.length > 0) {
			await this.#withinLease(store.release(ended));
			for (const shard of ended) this.#ended.delete(shard);
		}
		const startedAt = elapsedMs(this.#clock);
		const view = await this.#withinLease(store.renew(this.#leaseMs));
		// The timer of the lease may be late, as on a node that was frozen.
		if (!this.holdsLease) this.#endLease();
		// The lease has ended meanwhile. What it covered is given up first.
		if (this.#ended.size > 0) return this.#renew();
		this.#leaseEnd = startedAt + this.#leaseMs;
		this.#options.onTime?.(view.now);
		if (!this.holdsLease) return;
		this.#watchLease();
		this.#accept(view);
		if (view.surplus > 0 && this.#handOver === null) {
			this.#handOver = this.#giveUp(view.surplus).finally(() => {
				this.#handOver = null;
			});
		}
	}

	#accept(view: PlacementView): void {
		this.#nodes = new Map(view.nodes.map((node) => [node.id, node]));
		this.#shards = view.shards;
		const former = this.#served;
		this.#served = new Map();
		for (const [shard, { owner, epoch }] of view.shards.entries()) {
			if (owner === this.#options.nodeId) this.#served.set(shard, epoch);
		}
		const lost = new Set(
			[...former].filter(([shard, epoch]) => this.#served.get(shard) !== epoch).map(([shard]) => shard),
		);
		for (const shard of lost) this.#handingOver.delete(shard);
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

	/**
	 * When the lease ends without a renewal, other nodes may take over: nothing in memory can be relied on. Commits of discarded actors may
	 * still be under way, so this node serves none of these shards with the same epoch again.
	 */
	#endLease(): void {
		const lost = new Set(this.#served.keys());
		for (const shard of lost) this.#ended.add(shard);
		this.#served = new Map();
		if (lost.size > 0) this.#options.onLost(lost);
	}

	#watchLease(): void {
		clearTimeout(this.#leaseTimer);
		this.#leaseTimer = setTimeout(() => {
			if (this.holdsLease) return this.#watchLease();
			this.#options.log.error('the lease of this node has ended: it serves no conversations until it is renewed');
			this.#endLease();
		}, this.#leaseEnd - elapsedMs(this.#clock));
		this.#leaseTimer.unref();
	}

	async #giveUp(count: number): Promise<void> {
		const busy = this.#options.busyShards();
		const idle = [...this.#served.keys()].filter((shard) => !busy.has(shard));
		await this.#release(new Set(idle.slice(-count)));
	}

	async #release(shards: ReadonlySet<number>): Promise<void> {
		if (shards.size === 0) return;
		for (const shard of shards) this.#handingOver.add(shard);
		this.#options.onLost(shards);
		try {
			await this.#options.store.release([...shards]);
			for (const shard of shards) this.#served.delete(shard);
		} catch (err) {
			this.#options.log.warn({ err }, 'shards could not be handed over: the next renewal tries again');
		} finally {
			for (const shard of shards) this.#handingOver.delete(shard);
		}
	}
}
