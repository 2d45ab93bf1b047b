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
	/** Another process gets it, if there is one. */
	avoid?: SimulatedServer | null;
}

/** Between two attempts to reach the node that serves a conversation. */
const RETRY_MS = 100;

/** Calls over a network: they arrive later, and responses are lost with the process or when the client leaves. */
export class Network {
	readonly #scheduler: Scheduler;
	readonly #pickServer: (avoid: SimulatedServer | null) => SimulatedServer | null;
	readonly #onDefect: (error: unknown) => void;
	/** Calls that have arrived. */
	readonly #pending = new Set<PendingCall>();
	#waiting = 0;

	/** @param pickServer the process that gets a call; null where there is none */
	constructor(
		scheduler: Scheduler,
		pickServer: (avoid: SimulatedServer | null) => SimulatedServer | null,
		onDefect: (error: unknown) => void,
	) {
		this.#scheduler = scheduler;
		this.#pickServer = pickServer;
		this.#onDefect = onDefect;
	}

	/** Calls whose clients wait. */
	get pending(): number {
		return this.#waiting;
	}

	send<T>({ label, call, onOutcome, giveUpMs, isOpenedAtOnce, discard, avoid = null }: CallOptions<T>): void {
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
			const server = this.#pickServer(avoid);
			if (isSettled || server === null) return lose();
			entry = { server, lose };
			this.#pending.add(entry);
			this.#in(server, label, () => {
				call(server, controller.signal).then(
					(response) => respond(server, response),
					(error: unknown) => {
						if (server.isAlive) this.#onDefect(error);
					},
				);
			});
		});
		if (giveUpMs === undefined) return;
		this.#scheduler.schedule({
			label: '',
			delayMs: giveUpMs,
			owner: null,
			run: () => {
				if (isSettled) return;
				const { server = null } = entry ?? {};
				settle('lost', 'given up');
				const abort = () => controller.abort(new Error('The client has left.'));
				if (server) this.#in(server, label, abort);
				else abort();
			},
		});
	}

	/** A call that is sent again soon: its client waits meanwhile. */
	hold(label: string, send: () => void): void {
		this.#waiting++;
		const run = () => {
			this.#waiting--;
			send();
		};
		this.#scheduler.schedule({ label: `${label} again`, delayMs: RETRY_MS, owner: null, run });
	}

	/** The process has ended: none of its calls gets a response. */
	loseAll(server: SimulatedServer): void {
		for (const pending of this.#pending) {
			if (pending.server !== server) continue;
			this.#pending.delete(pending);
			pending.lose();
		}
	}

	/** Runs code of a process: at once, or as its task where there are several. */
	#in(server: SimulatedServer, label: string, run: () => void): void {
		if (!this.#scheduler.hasSeveralProcesses) run();
		else this.#scheduler.schedule({ label: `${server.name}: ${label}`, delayMs: 0, owner: server, run });
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
