import type { Scheduler } from './scheduler.ts';
import type { SimulatedServer } from './simulated-server.ts';

interface PendingCall {
	server: SimulatedServer;
	lose(): void;
}

export interface CallOptions<T> {
	label: string;
	call: (server: SimulatedServer, signal: AbortSignal) => Promise<T>;
	onOutcome: (outcome: T | 'lost') => void;
	/** The client leaves after this time. */
	giveUpMs?: number | undefined;
	/** Whether the server begins to send this response at once: a stream is opened before anything else happens. */
	isOpenedAtOnce: (response: T) => boolean;
	/** Gets a response whose client has left. */
	discard: (response: T) => void;
}

/** Calls over a network: they arrive later, and responses are lost with the process or when the client leaves. */
export class Network {
	readonly #scheduler: Scheduler;
	readonly #server: () => SimulatedServer | null;
	readonly #onDefect: (error: unknown) => void;
	/** Calls that have arrived. */
	readonly #pending = new Set<PendingCall>();
	#waiting = 0;

	constructor(scheduler: Scheduler, server: () => SimulatedServer | null, onDefect: (error: unknown) => void) {
		this.#scheduler = scheduler;
		this.#server = server;
		this.#onDefect = onDefect;
	}

	/** Calls whose clients wait. */
	get pending(): number {
		return this.#waiting;
	}

	send<T>({ label, call, onOutcome, giveUpMs, isOpenedAtOnce, discard }: CallOptions<T>): void {
		const controller = new AbortController();
		this.#waiting++;
		let isSettled = false;
		let entry: PendingCall | null = null;
		const settle = (outcome: T | 'lost', described: string) => {
			if (isSettled) return;
			isSettled = true;
			this.#waiting--;
			if (entry) this.#pending.delete(entry);
			this.#scheduler.trace(`${label}: ${described}`);
			onOutcome(outcome);
		};
		const lose = () => this.#later(`${label} is lost`, null, () => settle('lost', 'lost'));
		const respond = (server: SimulatedServer, response: T) => {
			// The last callbacks of a process that has just ended reach no client.
			if (isSettled || !server.isAlive) return discard(response);
			if (isOpenedAtOnce(response)) {
				settle(response, describe(response));
				return;
			}
			this.#later('', server, () => {
				if (isSettled) discard(response);
				else settle(response, describe(response));
			});
		};
		this.#later(`${label} arrives`, null, () => {
			const server = this.#server();
			if (isSettled || server === null) return lose();
			entry = { server, lose };
			this.#pending.add(entry);
			call(server, controller.signal).then(
				(response) => respond(server, response),
				(error: unknown) => {
					if (server.isAlive) this.#onDefect(error);
				},
			);
		});
		if (giveUpMs === undefined) return;
		this.#scheduler.schedule({
			label: '',
			delayMs: giveUpMs,
			owner: null,
			run: () => {
				if (isSettled) return;
				settle('lost', 'given up');
				controller.abort(new Error('The client has left.'));
			},
		});
	}

	/** The process has ended: none of its calls gets a response. */
	loseAll(server: SimulatedServer): void {
		for (const pending of this.#pending) {
			if (pending.server !== server) continue;
			this.#pending.delete(pending);
			pending.lose();
		}
	}

	#later(label: string, owner: SimulatedServer | null, run: () => void): void {
		const { random } = this.#scheduler;
		const delayMs = random.chance(0.1) ? random.next() * 100 : random.next() * 3;
		this.#scheduler.schedule({ label, delayMs, owner, run });
	}
}

function describe(response: unknown): string {
	const { status, body, events } = (response ?? {}) as { status?: number; body?: unknown; events?: unknown };
	return status === undefined ? JSON.stringify(response) : `${status} ${events ? 'stream' : JSON.stringify(body)}`;
}
