/** Who waits for a slot. */
export interface Waiting {
	/** Says that a slot may be free again. */
	proceed(): void;
}

export interface SlotsOptions {
	/** In all. */
	count: number;
	/** That one workspace has at most. */
	share: number;
	/** Of its share, what goes to those of its takers that have one already. The rest is for those that have none. */
	further: number;
}

/** What one workspace has, and who of it waits: for a first slot, or for a further one. */
interface Workspace {
	taken: number;
	first: Set<Waiting>;
	further: Set<Waiting>;
}

/**
 * A bound on what is under way at a time, in all and in each workspace. Nobody is kept out by others that have much to do: a
 * workspace leaves slots to the others, and a taker that has one leaves some to those of its workspace that have none. Who finds
 * none free is told when one is, the workspaces in turn, and in each the takers in turn.
 */
export class Slots {
	readonly #options: SlotsOptions;
	#taken = 0;
	/** Of each taker that has any. */
	readonly #held = new Map<Waiting, { workspace: string; count: number }>();
	/** Those in which something is taken or waited for; the one whose turn was last comes last. */
	readonly #workspaces = new Map<string, Workspace>();

	constructor(options: SlotsOptions) {
		this.#options = options;
	}

	/** Takes one, or has the taker wait for its turn. A taker belongs to one workspace. */
	take(taker: Waiting, workspace: string): boolean {
		const own = this.#workspaces.get(workspace) ?? { taken: 0, first: new Set(), further: new Set() };
		this.#workspaces.set(workspace, own);
		const held = this.#held.get(taker) ?? { workspace, count: 0 };
		const kind = held.count > 0 ? 'further' : 'first';
		if (!this.#has(own, kind)) {
			own[kind].add(taker);
			return false;
		}
		held.count += 1;
		own.taken += 1;
		this.#taken += 1;
		this.#held.set(taker, held);
		return true;
	}

	/** Gives one back. */
	release(taker: Waiting): void {
		const held = this.#held.get(taker);
		const own = held && this.#workspaces.get(held.workspace);
		if (!held || !own) throw new Error('A slot was given back that was not taken.');
		held.count -= 1;
		if (held.count === 0) this.#held.delete(taker);
		own.taken -= 1;
		this.#taken -= 1;
		this.#tidy(held.workspace, own);
		// Each time one that waits is told, waits no more, and takes a slot unless it has no need of it: so this ends.
		for (let next = this.#next(); next; next = this.#next()) next.proceed();
	}

	/** Waits no more. */
	forget(taker: Waiting): void {
		for (const [workspace, own] of this.#workspaces) {
			if (own.first.delete(taker) || own.further.delete(taker)) this.#tidy(workspace, own);
		}
	}

	#has({ taken }: Workspace, kind: 'first' | 'further'): boolean {
		const { count, share, further } = this.#options;
		return this.#taken < count && taken < (kind === 'first' ? share : further);
	}

	/** Whose turn it is of those for whom there is a slot. */
	#next(): Waiting | undefined {
		if (this.#taken >= this.#options.count) return undefined;
		for (const [workspace, own] of this.#workspaces) {
			for (const kind of ['first', 'further'] as const) {
				const [taker] = own[kind];
				if (!taker || !this.#has(own, kind)) continue;
				own[kind].delete(taker);
				this.#workspaces.delete(workspace);
				this.#workspaces.set(workspace, own);
				return taker;
			}
		}
		return undefined;
	}

	#tidy(workspace: string, { taken, first, further }: Workspace): void {
		if (taken === 0 && first.size === 0 && further.size === 0) this.#workspaces.delete(workspace);
	}
}
