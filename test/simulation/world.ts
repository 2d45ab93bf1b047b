import type { Database } from 'better-sqlite3';
import type { Random } from '../support/random.ts';
import type { Ledger } from './ledger.ts';
import type { Scheduler } from './scheduler.ts';
import type { SimulatedRequest, SimulatedResponse } from './simulated-api.ts';
import type { SimulatedServer } from './simulated-server.ts';

/** The server answered, or the client does not know what became of its request. */
export type Outcome = SimulatedResponse | 'lost';

/** What the clients of a simulation act on. */
export interface World {
	readonly scheduler: Scheduler;
	readonly random: Random;
	readonly db: Database;
	readonly ledger: Ledger;
	readonly deploymentId: string;
	/** No client begins anything new, and no fault occurs. */
	readonly isSettling: boolean;
	/** What has happened. */
	readonly totals: { readonly faults: number };
	/** Requests whose clients wait. */
	readonly pendingRequests: number;
	/** Sends a request over a network that the seed delays. Clients give up after a time, if one is given. */
	request(
		label: string,
		request: Omit<SimulatedRequest, 'signal'>,
		onOutcome: (outcome: Outcome) => void,
		giveUpMs?: number,
	): void;
	/** The same for a call of a service of a process. */
	perform<T>(
		label: string,
		call: (server: SimulatedServer, signal: AbortSignal) => Promise<T>,
		onOutcome: (outcome: T | 'lost') => void,
		giveUpMs?: number,
	): void;
	/** Work of a client after a time. */
	later(label: string, delayMs: number, run: () => void): void;
	/** Conversations in the database, the oldest first. */
	conversationIds(): string[];
}
