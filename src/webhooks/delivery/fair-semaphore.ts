/** A holder of slots that may wait for one. */
export interface PermitWaiter {
	/** Called when a slot may be free. */
	advance(): void;
}

/** The limits of a fair semaphore. */
export interface FairSemaphoreOptions {
	/** Slots in total. */
	permits: number;
	/** Slots of one workspace. */
	maxPerWorkspace: number;
	/** Slots of one workspace that holders with a slot already may take. The rest is for holders without one. */
	additionalPerWorkspace: number;
}

/** The slots of one workspace, and its waiters: for a first slot, or for a further one. */
interface WorkspaceSlots {
	acquired: number;
	first: Set<PermitWaiter>;
	further: Set<PermitWaiter>;
}

/**
 * A semaphore with a limit in total and for each workspace. A busy workspace leaves slots to the others, and a holder with a
 * slot leaves some to the holders of its workspace that have none. When a slot becomes free, a waiter is called: the workspaces
 * in turn, and in each its waiters in turn.
 */
export class FairSemaphore {
	readonly #options: FairSemaphoreOptions;
	#acquired = 0;
	/** The slots of each holder that has any. */
	readonly #permitsHeld = new Map<PermitWaiter, { workspace: string; count: number }>();
	/** Workspaces with slots or waiters; the one whose turn was last comes last. */
	readonly #workspaces = new Map<string, WorkspaceSlots>();

	constructor(options: FairSemaphoreOptions) {
		this.#options = options;
	}

	/** Takes a slot, or adds the holder to the waiters. A holder belongs to one workspace. */
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

	/** Releases a slot. */
	release(holder: PermitWaiter): void {
		const held = this.#permitsHeld.get(holder);
		const slots = held && this.#workspaces.get(held.workspace);
		if (!held || !slots) throw new Error('The holder has no slot to release.');
		held.count -= 1;
		if (held.count === 0) this.#permitsHeld.delete(holder);
		slots.acquired -= 1;
		this.#acquired -= 1;
		this.#removeIfEmpty(held.workspace, slots);
		// The loop ends: each turn removes a waiter, which takes the slot if it still needs one.
		for (let next = this.#nextWaiter(); next; next = this.#nextWaiter()) next.advance();
	}

	/** Removes a waiter. */
	cancelWait(waiter: PermitWaiter): void {
		for (const [workspace, slots] of this.#workspaces) {
			if (slots.first.delete(waiter) || slots.further.delete(waiter)) this.#removeIfEmpty(workspace, slots);
		}
	}

	#hasFree({ acquired }: WorkspaceSlots, kind: 'first' | 'further'): boolean {
		const { permits, maxPerWorkspace, additionalPerWorkspace } = this.#options;
		return this.#acquired < permits && acquired < (kind === 'first' ? maxPerWorkspace : additionalPerWorkspace);
	}

	/** The next waiter for whom there is a slot. */
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
