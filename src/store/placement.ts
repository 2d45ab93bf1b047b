/** Conversations and deployments hash to this many shards. Each shard has one owner at a time. */
export const SHARD_COUNT = 256;

/** How long a lease holds after its renewal (ms). The shards of a node that ends are taken over soon after it. */
export const LEASE_MS = 3_000;

/** The right to write what belongs to a shard: it ends when another node takes the shard over. */
export interface ShardFence {
	/** From 0 to `SHARD_COUNT` - 1. */
	shard: number;
	/** Grows with each owner. */
	epoch: number;
}

/**
 * The fence that commits about an id must carry. Null: this node may not serve the id. Undefined: the store has one owner, and commits
 * need none.
 */
export type FenceOf = (id: string) => ShardFence | null | undefined;

/** Work in the background that one node of a cluster does at a time: the owner of the shard of its name. */
export type ClusterTask = 'deliveries' | 'erasures' | 'expiry' | 'inbox' | 'statistics' | 'unused_blobs';

/**
 * The fence of a task, as of an id: null where another node does it. A commit that must not be made by a node that has only woken up
 * late carries it.
 */
export function fenceOfTask(fenceOf: FenceOf | undefined, task: ClusterTask): ShardFence | null | undefined {
	return fenceOf?.(`task:${task}`);
}

/** The part of a commit that has a fence. */
export function fenced(fence: ShardFence | undefined): { fence?: ShardFence } {
	return fence === undefined ? {} : { fence };
}

/** A node of the cluster. */
export interface ClusterNode {
	id: string;
	/** Where other nodes reach it, for example `10.0.0.7:9090`. */
	address: string;
	version: string;
	/** It hands its shards over and takes no others. */
	isLeaving: boolean;
}

/** Who owns what, as the database had it at one moment. */
export interface PlacementView {
	/** Nodes whose lease has not run out. */
	nodes: ClusterNode[];
	/** The owner and epoch of each shard, by its number; an owner that is not among the nodes has ended. */
	shards: { owner: string | null; epoch: number }[];
	/** Shards that this node should hand over, because others have fewer. */
	surplus: number;
	/** Until the first lease of another node ends that is not renewed before (ms); null: there is no other node. */
	nextExpiryMs: number | null;
	/** The time by the clock of the database (ms since the epoch). */
	now: number;
}

/** Leases of shards. Times are by the clock of the database. */
export interface PlacementStore {
	/**
	 * Renews this node's lease, takes shards without a living owner up to its fair share, and returns who owns what.
	 * @param leaseMs how long the lease holds, from the call
	 * @throws when the database does not answer in time: the node then counts on its last lease only
	 */
	renew(leaseMs: number): Promise<PlacementView>;
	/** Gives shards up that still have these epochs. Commits with them are refused from the next owner on. */
	release(fences: readonly ShardFence[]): Promise<void>;
	/** This node takes no further shards. */
	leave(): Promise<void>;
}
