/** Who owns a part of the ids, and since when. */
export interface Ownership {
	/** The part of the ids that moves between nodes as a whole. */
	shard: string;
	/** The node. */
	owner: string;
	/** Grows with every change of the owner; a commit of an older epoch is rejected. */
	epoch: number;
}

/** Ends a registration. */
export type Unsubscribe = () => void;

/** Which node runs the actor of an id. */
export interface Placement {
	/** Undefined while it has no owner. */
	ownerOf(id: string): Ownership | undefined;
	/** Called for every shard that this node owns or gains. */
	onGained(listener: (ownership: Ownership) => void): Unsubscribe;
	/** Called before a shard is released; it is released once all listeners have resolved, so that no actor exists twice. */
	onLost(listener: (ownership: Ownership) => void | Promise<void>): Unsubscribe;
	/** Releases everything. */
	drain(): Promise<void>;
}

/** Placement with one node: it owns everything from the start until it drains. */
export class LocalPlacement implements Placement {
	readonly #ownership: Ownership;
	readonly #lostListeners = new Set<(ownership: Ownership) => void | Promise<void>>();
	#drainPromise: Promise<void> | undefined = undefined;
	#isOwner = true;

	/** @param epoch the store's; it grows with every start */
	constructor(owner: string, epoch: number) {
		this.#ownership = { shard: 'all', owner, epoch };
	}

	ownerOf(_id: string): Ownership | undefined {
		return this.#isOwner ? this.#ownership : undefined;
	}

	onGained(listener: (ownership: Ownership) => void): Unsubscribe {
		// The only gain was at the start.
		if (this.#isOwner && !this.#drainPromise) listener(this.#ownership);
		return () => {};
	}

	onLost(listener: (ownership: Ownership) => void | Promise<void>): Unsubscribe {
		this.#lostListeners.add(listener);
		return () => this.#lostListeners.delete(listener);
	}

	drain(): Promise<void> {
		this.#drainPromise ??= this.#release();
		return this.#drainPromise;
	}

	async #release(): Promise<void> {
		try {
			await Promise.all([...this.#lostListeners].map(async (listener) => listener(this.#ownership)));
		} finally {
			this.#isOwner = false;
		}
	}
}
