import type { ActionName } from './action-name.ts';
import { Agents } from './agents.ts';
import { READER } from './count-checks.ts';
import { Followers } from './followers.ts';
import type { Plan } from './plan.ts';
import type { Processes } from './processes.ts';
import { Visitors } from './visitors.ts';
import type { World } from './world.ts';

const DAY_MS = 24 * 3_600_000;

/** The processes of the server, as their operator and their faults act on them. */
interface ProcessControl {
	readonly processes: Pick<Processes, 'pickRunning' | 'kill' | 'drain' | 'freeze' | 'cutOff'>;
}

type ProcessAction = Extract<ActionName, 'kill' | 'drain' | 'freeze' | 'cut off'>;

/** What people, clients and the operator do. */
export class Actions {
	readonly followers: Followers;
	readonly #visitors: Visitors;
	readonly #agents: Agents;
	readonly #world: World & ProcessControl;
	readonly #plan: Plan;

	constructor(world: World & ProcessControl, plan: Plan) {
		this.#world = world;
		this.#plan = plan;
		this.#visitors = new Visitors(world);
		this.#agents = new Agents(world);
		this.followers = new Followers(world);
	}

	take(action: ActionName): void {
		const { random, scheduler } = this.#world;
		const keyed = random.chance(this.#plan.keyedChance);
		const conversations = this.#world.conversationIds();
		const id = conversations.length === 0 ? undefined : random.pick(conversations as [string]);
		scheduler.trace(`action: ${action}`);
		switch (action) {
			case 'sendToNew':
				this.#visitors.send(conversations.length < this.#plan.maxConversations ? undefined : id, { keyed });
				return;
			case 'send':
				this.#visitors.send(id, { keyed });
				return;
			case 'repeat':
				this.#visitors.repeat();
				return;
			case 'disconnect':
				this.followers.disconnectOne();
				return;
			case 'kill':
			case 'drain':
			case 'freeze':
			case 'cut off':
				this.#actOnProcess(action);
				return;
			case 'pass a day':
				// The key of a request is known for a day: no client waits for a response meanwhile.
				if (this.#world.pendingRequests === 0) scheduler.skip(DAY_MS + random.next() * 3_600_000);
				return;
			default:
				if (id !== undefined) this.#act(action, id);
		}
	}

	#actOnProcess(action: ProcessAction): void {
		const { processes } = this.#world;
		const server = processes.pickRunning();
		if (server === null) return;
		if (action === 'cut off') processes.cutOff(server);
		else processes[action](server);
	}

	#act(
		action: Exclude<ActionName, 'send' | 'sendToNew' | 'repeat' | 'disconnect' | 'pass a day' | ProcessAction>,
		id: string,
	): void {
		switch (action) {
			case 'stop':
				this.#visitors.stop(id);
				return;
			case 'follow':
				this.followers.add(id, { fromStart: this.#world.random.chance(0.5) });
				return;
			case 'markRead':
				this.#markRead(id);
				return;
			default:
				this.#agents[action](id);
				return;
		}
	}

	#markRead(id: string): void {
		const { ledger, random } = this.#world;
		const lastRead = random.between(0, 6);
		const read = ledger.read.get(id) ?? new Set([0]);
		ledger.read.set(id, read);
		this.#world.perform(
			`read ${id} to ${lastRead}`,
			(server) =>
				server.inbox
					.markRead(READER, id, lastRead)
					.commit()
					.then(
						({ last_read }) => last_read,
						() => null,
					),
			(outcome) => {
				// Several may be under way, so any of them may be the last. A lost one has read the messages of that time.
				if (typeof outcome === 'number') read.add(outcome);
				else for (let seq = 0; seq <= lastRead; seq++) read.add(seq);
			},
		);
	}
}
