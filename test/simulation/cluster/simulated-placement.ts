import { SHARD_COUNT } from '../../../src/store/index.ts';
import type { ClusterNode, PlacementView, ShardFence } from '../../../src/store/placement.ts';

interface NodeRow {
	id: string;
	isLeaving: boolean;
	/** By the clock of the database. */
	expiresAt: number;
}

const HOUR_MS = 3_600_000;
const FIRST_LEASE_MS = 3_000;

/** A node was removed long after its lease had ended: its process may not go on. */
export class RemovedNodeError extends Error {}

/** The nodes and shards of the database, with the rules of `renew_lease` and `holds_shard` of PostgreSQL. Each call is one transaction. */
export class SimulatedPlacement {
	readonly #nodes = new Map<string, NodeRow>();
	readonly #shards: { owner: string | null; epoch: number }[];
	readonly #now: () => number;
	readonly #onTaken: () => void;

	/** @param onTaken shards of a node whose lease has run out have another owner now */
	constructor(now: () => number, onTaken: () => void) {
		this.#now = now;
		this.#onTaken = onTaken;
		this.#shards = Array.from({ length: SHARD_COUNT }, () => ({ owner: null, epoch: 0 }));
	}

	/** A process has started. */
	join(id: string): void {
		this.#nodes.set(id, { id, isLeaving: false, expiresAt: this.#now() + FIRST_LEASE_MS });
	}

	/** A process has ended, and its lease is over. */
	endLease(id: string): void {
		const node = this.#nodes.get(id);
		if (node) node.expiresAt = this.#now();
	}

	/** A process has ended, and has said so. */
	remove(id: string): void {
		this.#nodes.delete(id);
	}

	/** Whether the shard has this epoch: checked in the transaction of each commit with a fence. */
	holds({ shard, epoch }: ShardFence): boolean {
		return this.#shards[shard]?.epoch === epoch;
	}

	renew(id: string, leaseMs: number): PlacementView {
		const now = this.#now();
		const node = this.#nodes.get(id);
		if (node === undefined) throw new RemovedNodeError('The node has left the cluster.');
		node.expiresAt = now + leaseMs;
		for (const { id: other, expiresAt } of this.#nodes.values()) {
			if (expiresAt < now - HOUR_MS) this.#nodes.delete(other);
		}
		const alive = [...this.#nodes.values()].filter(({ expiresAt }) => expiresAt > now);
		// The others have missed renewals.
		const candidates = alive.filter(({ isLeaving, expiresAt }) => !isLeaving && expiresAt > now + leaseMs / 2);
		const count = Math.max(candidates.length, 1);
		const ownedBy = (owner: string) => this.#shards.filter((shard) => shard.owner === owner).length;
		const owned = ownedBy(id);
		const smaller = Math.floor(SHARD_COUNT / count);
		const isWaitedFor = candidates.some((other) => other.id !== id && ownedBy(other.id) < smaller);
		const share = node.isLeaving ? 0 : isWaitedFor ? smaller : Math.ceil(SHARD_COUNT / count);
		this.#take(id, new Set(alive.map((each) => each.id)), Math.max(share - owned, 0));
		const others = alive.filter((other) => other.id !== id).map(({ expiresAt }) => expiresAt - now);
		return {
			nodes: alive.map(viewOf),
			nextExpiryMs: others.length === 0 ? null : Math.min(...others),
			shards: this.#shards.map((shard) => ({ ...shard })),
			surplus: node.isLeaving || isWaitedFor ? Math.max(owned - share, 0) : 0,
			now,
		};
	}

	release(id: string, fences: readonly ShardFence[]): void {
		for (const { shard: number, epoch } of fences) {
			const shard = this.#shards[number];
			if (shard?.owner === id && shard.epoch === epoch) shard.owner = null;
		}
	}

	leave(id: string): void {
		const node = this.#nodes.get(id);
		if (node) node.isLeaving = true;
	}

	/** Takes shards without a living owner. */
	#take(id: string, alive: ReadonlySet<string>, count: number): void {
		const free = this.#shards.filter(({ owner }) => owner === null || !alive.has(owner)).slice(0, count);
		if (free.some(({ owner }) => owner !== null)) this.#onTaken();
		for (const shard of free) {
			shard.owner = id;
			shard.epoch += 1;
		}
	}
}

function viewOf({ id, isLeaving }: NodeRow): ClusterNode {
	return { id, address: id, version: 'simulated', isLeaving };
}
