import { checkStatement } from './check-statements.ts';
import { Follower, StreamReading } from './follower.ts';
import type { SimulatedServer } from './simulated-server.ts';
import { StreamView } from './stream-view.ts';
import type { Outcome, World } from './world.ts';

/** Clients that follow conversations: they disconnect, and resume from their last event. */
export class Followers {
	readonly all: Follower[] = [];
	readonly #world: World;

	constructor(world: World) {
		this.#world = world;
	}

	/** Whether all whose conversations exist have read everything that is ready. */
	get areUpToDate(): boolean {
		return this.all.every(({ reading, hasEnded }) => reading?.isBehind === false || hasEnded);
	}

	/** Follows from the beginning of the conversation, or from now on. */
	add(conversationId: string, { fromStart }: { fromStart: boolean }): void {
		const view = new StreamView(() => this.#world.totals.faults > 0);
		const follower = new Follower(`follower ${this.all.length + 1}`, conversationId, view);
		if (fromStart) follower.view.lastId = '0.0';
		this.all.push(follower);
		this.#connect(follower);
	}

	/** One of the connected followers disconnects, and may resume later. */
	disconnectOne(): void {
		const connected = this.all.filter(({ reading }) => reading !== null);
		if (connected.length === 0) return;
		const follower = this.#world.random.pick(connected as [Follower]);
		this.#disconnect(follower);
		this.#reconnectLater(follower);
	}

	/** The process has ended, and with it all of its connections. */
	disconnectFrom(server: SimulatedServer): void {
		for (const follower of this.all) {
			if (follower.reading?.server !== server) continue;
			this.#disconnect(follower);
			this.#reconnectLater(follower);
		}
	}

	#disconnect(follower: Follower): void {
		follower.reading?.close();
		follower.reading = null;
	}

	#reconnectLater(follower: Follower): void {
		const delayMs = this.#world.random.next() * 3_000;
		this.#world.later(`${follower.name} reconnects`, delayMs, () => this.#connect(follower));
	}

	#connect(follower: Follower): void {
		const { view, conversationId, name } = follower;
		if (follower.hasEnded || follower.reading !== null) return;
		const { lastId } = view;
		const headers: Record<string, string> = lastId === null ? {} : { 'last-event-id': lastId };
		const request = { operation: 'followConversation' as const, params: { id: conversationId }, headers };
		this.#world.request(`${name} follows ${conversationId} after ${lastId}`, request, (outcome) => {
			this.#onOutcome(follower, outcome);
		});
	}

	#onOutcome(follower: Follower, outcome: Outcome): void {
		if (outcome === 'lost') {
			this.#reconnectLater(follower);
			return;
		}
		const { scheduler, random } = this.#world;
		const { events, server } = outcome;
		if (events === null) {
			if (outcome.status === 404) follower.hasEnded = true;
			else this.#reconnectLater(follower);
			return;
		}
		const { view, conversationId, earlierMessages } = follower;
		// Without a position it follows from now on.
		if (view.lastId === null) for (const id of this.#storedMessages(conversationId)) earlierMessages.add(id);
		view.onOpened();
		follower.reading = new StreamReading(scheduler, server, events, {
			label: follower.name,
			pauseMs: random.chance(0.2) ? 3_000 : 3,
			onEvent: (event) => follower.view.apply(event),
			onEnd: () => {
				follower.reading = null;
				this.#reconnectLater(follower);
			},
		});
	}

	#storedMessages(conversationId: string): string[] {
		const { db } = this.#world;
		return checkStatement(db, 'SELECT id FROM messages WHERE conversation_id = ?')
			.pluck()
			.all(conversationId) as string[];
	}
}
