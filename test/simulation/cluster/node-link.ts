import type { PlacementStore } from '../../../src/store/placement.ts';
import type { Owner, Scheduler } from '../scheduler.ts';
import type { ClusterHabits } from './cluster-plan.ts';
import { RemovedNodeError, type SimulatedPlacement } from './simulated-placement.ts';

const STATEMENT_TIMEOUT_MS = 5_000;

/**
 * What one process and the database send to each other. A request that is under way arrives also after the process has ended or while it
 * is frozen; a response waits for the process.
 */
export class NodeLink {
	readonly #scheduler: Scheduler;
	readonly #process: Owner;
	readonly #habits: ClusterHabits;
	/** Requests do not arrive before this time. */
	#cutOffUntil = 0;
	/** No message is late or lost any more. */
	isReliable = false;

	constructor(scheduler: Scheduler, process: Owner, habits: ClusterHabits) {
		this.#scheduler = scheduler;
		this.#process = process;
		this.#habits = habits;
	}

	/** Holds up all requests for some time. */
	cutOff(ms: number): void {
		this.#cutOffUntil = this.#scheduler.time + ms;
	}

	/** Sends a request to the database, where it arrives later than others by a time. */
	request(label: string, run: () => void, lateMs = 0): void {
		const heldUpMs = Math.max(0, this.#cutOffUntil - this.#scheduler.time);
		this.#scheduler.schedule({ label, delayMs: heldUpMs + lateMs + this.#delay(), owner: null, run });
	}

	/** Sends a response to the process. */
	respond(label: string, run: () => void): void {
		this.#scheduler.schedule({ label, delayMs: this.#delay(), owner: this.#process, run });
	}

	/** A request which itself, or whose response, may be lost: then it fails after the time limit of a statement. */
	call<T>(label: string, execute: () => T): Promise<T> {
		const { random } = this.#scheduler;
		const isLost = (chance: number) => !this.isReliable && random.chance(chance);
		return new Promise((resolve, reject) => {
			const limit = { label: '', delayMs: STATEMENT_TIMEOUT_MS, owner: this.#process };
			this.#scheduler.schedule({ ...limit, run: () => reject(new Error('The database did not answer in time.')) });
			if (isLost(this.#habits.lossChance)) return this.#scheduler.trace(`${label} is lost`);
			this.request(`${label} arrives`, () => {
				const settle = outcomeOf(execute, resolve, reject);
				if (isLost(this.#habits.lossChance)) this.#scheduler.trace(`the response to ${label} is lost`);
				else this.respond(`response to ${label}`, settle);
			});
		});
	}

	#delay(): number {
		const { random } = this.#scheduler;
		if (!this.isReliable && random.chance(this.#habits.delayChance)) return random.next() * this.#habits.maxDelayMs;
		return random.next() * 2;
	}
}

/** Executes now; the returned function settles the promise of the caller. */
function outcomeOf<T>(execute: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): () => void {
	try {
		const value = execute();
		return () => resolve(value);
	} catch (error) {
		return () => reject(error);
	}
}

/**
 * The leases of one process.
 * @param onExpelled the process may not go on
 */
export function placementStoreOf(
	placement: SimulatedPlacement,
	nodeId: string,
	link: NodeLink,
	onExpelled: () => void,
): PlacementStore {
	const name = `of ${nodeId}`;
	return {
		renew: async (leaseMs) => {
			try {
				return await link.call(`renewal ${name}`, () => placement.renew(nodeId, leaseMs));
			} catch (error) {
				if (error instanceof RemovedNodeError) onExpelled();
				throw error;
			}
		},
		release: (fences) => link.call(`release ${name}`, () => placement.release(nodeId, fences)),
		leave: () => link.call(`leave ${name}`, () => placement.leave(nodeId)),
	};
}
