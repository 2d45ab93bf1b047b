/** Who waits for a slot. */
export interface PermitWaiter {
	/** Says that a slot may be free again. */
	advance(): void;
}

export interface FairSemaphoreOptions {
	/** In all. */
	permits: number;
	/** That one workspace has at most. */
	maxPerWorkspace: number;
	/** Of its share, what goes to those of its takers that have one already. The rest is for those that have none. */
	additionalPerWorkspace: number;
}

/** What one workspace has, and who of it waits: for a first slot, or for a further one. */
interface WorkspaceSlots {
	acquired: number;
	first: Set<PermitWaiter>;
	further: Set<PermitWaiter>;
}

/**
 * A bound on what is under way at a time, in all and in each workspace. Nobody is kept out by others that have much to do: a
 * workspace leaves slots to the others, and a taker that has one leaves some to those of its workspace that have none. Who finds
 * none free is told when one is, the workspaces in turn, and in each the takers in turn.
 */
export class FairSemaphore {
	readonly #options: FairSemaphoreOptions;
	#acquired = 0;
	/** Of each taker that has any. */
	readonly #permitsHeld = new Map<PermitWaiter, { workspace: string; count: number }>();
	/** Those in which something is taken or waited for; the one whose turn was last comes last. */
	readonly #workspaces = new Map<string, WorkspaceSlots>();

	constructor(options: FairSemaphoreOptions) {
		this.#options = options;
	}

	/** Takes one, or has the taker wait for its turn. A taker belongs to one workspace. */
	tryAcquire(holder: PermitWaiter, workspace: string): boolean {
		const slots = this.#workspaces.get(workspace) ?? { acquired: 0, first: new Set(), further: new Set() };
		this.#workspaces.set(workspace, slots);
		const held = this.#permitsHeld.get(holder) ?? { workspace, count: 0 };
		const kind = held.count > 0 ? 'further' : 'first';
		if (!this.#hasFree(slots, kind)) {
			slots[kind].add(holder);
			return false;
		}
		held.count += 1;
		slots.acquired += 1;
		this.#acquired += 1;
		this.#permitsHeld.set(holder, held);
		return true;
	}

	/** Gives one back. */
	release(holder: PermitWaiter): void {
		const held = this.#permitsHeld.get(holder);
		const slots = held && this.#workspaces.get(held.workspace);
		if (!held || !slots) throw new Error('A slot was given back that was not taken.');
		held.count -= 1;
		if (held.count === 0) this.#permitsHeld.delete(holder);
		slots.acquired -= 1;
		this.#acquired -= 1;
		this.#removeIfEmpty(held.workspace, slots);
		// Each time one that waits is told, waits no more, and takes a slot unless it has no need of it: so this ends.
		for (let next = this.#nextWaiter(); next; next = this.#nextWaiter()) next.advance();
	}

	/** Waits no more. */
	cancelWait(waiter: PermitWaiter): void {
		for (const [workspace, slots] of this.#workspaces) {
			if (slots.first.delete(waiter) || slots.further.delete(waiter)) this.#removeIfEmpty(workspace, slots);
		}
	}

	#hasFree({ acquired }: WorkspaceSlots, kind: 'first' | 'further'): boolean {
		const { permits, maxPerWorkspace, additionalPerWorkspace } = this.#options;
		return this.#acquired < permits && acquired < (kind === 'first' ? maxPerWorkspace : additionalPerWorkspace);
	}

	/** Whose turn it is of those for whom there is a slot. */
	#nextWaiter(): PermitWaiter | undefined {
		if (this.#acquired >= this.#options.permits) return undefined;
		for (const [workspace, slots] of this.#workspaces) {
			for (const kind of ['first', 'further'] as const) {
				const [waiter] = slots[kind];
				if (!waiter || !this.#hasFree(slots, kind)) continue;
				slots[kind].delete(waiter);
				this.#workspaces.delete(workspace);
				this.#workspaces.set(workspace, slots);
				return waiter;
			}
		}
		return undefined;
	}

	#removeIfEmpty(workspace: string, { acquired, first, further }: WorkspaceSlots): void {
		if (acquired === 0 && first.size === 0 && further.size === 0) this.#workspaces.delete(workspace);
	}
}
