/** Who owns a part of the ids, and since when. */
export interface Ownership {
	/** The part of the ids that moves between nodes as a whole. */
	shard: string;
	/** The node. */
	owner: string;
	/** Grows with every change of hands; a commit of an older epoch is refused. */
	epoch: number;
}

/** Ends a registration. */
export type Unsubscribe = () => void;

/** Which node runs the actor of an id. */
export interface Placement {
	/** Undefined while nobody owns it. */
	ownerOf(id: string): Ownership | undefined;
	/** Called for every shard that this node owns already or comes to own. */
	onGained(listener: (ownership: Ownership) => void): Unsubscribe;
	/** Called before a shard goes; it is let go once all listeners have resolved, so that no actor lives twice. */
	onLost(listener: (ownership: Ownership) => void | Promise<void>): Unsubscribe;
	/** Lets go of everything. */
	drain(): Promise<void>;
}

/** Placement where there is one node: it owns everything from the start until it drains. */
export class LocalPlacement implements Placement {
	readonly #ownership: Ownership;
	readonly #lostListeners = new Set<(ownership: Ownership) => void | Promise<void>>();
	#drainPromise: Promise<void> | undefined = undefined;
	#isOwner = true;

	/** @param epoch grows with every start, as the store tells */
	constructor(owner: string, epoch: number) {
		this.#ownership = { shard: 'all', owner, epoch };
	}

	ownerOf(_id: string): Ownership | undefined {
		return this.#isOwner ? this.#ownership : undefined;
	}

	onGained(listener: (ownership: Ownership) => void): Unsubscribe {
		// The only gain there is lies in the past.
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
