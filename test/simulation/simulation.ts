import type { Database } from 'better-sqlite3';
import { useIdGenerator } from '../../src/base/index.ts';
import type { WriterOutcome, WriterTask } from '../../src/store/sqlite/writer.ts';
import type { Random } from '../support/random.ts';
import { Actions } from './actions.ts';
import { checkStatement } from './check-statements.ts';
import { MAX_CLOCK_OFFSET_MS } from './cluster/cluster-plan.ts';
import { CommitAudit } from './commit-audit.ts';
import { checkInbox, checkStatistics } from './count-checks.ts';
import { insertWorkspace, openSimulatedDatabase } from './database.ts';
import { checkEnd } from './final-checks.ts';
import { Ledger } from './ledger.ts';
import { Network } from './network.ts';
import { makePlan, type Plan, pickWeighted } from './plan.ts';
import { newIds, Processes, type ProcessesHost } from './processes.ts';
import { type Owner, Scheduler } from './scheduler.ts';
import { callApi, type SimulatedRequest } from './simulated-api.ts';
import { SimulatedModel } from './simulated-model.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { WriterFault } from './simulated-writer.ts';
import { Violation } from './violation.ts';
import { installVirtualPlatform } from './virtual-platform.ts';
import type { Outcome, World } from './world.ts';

/** How a simulation ended. */
export interface SimulationResult {
	steps: number;
	traceHash: string;
	/** Null: all rules were kept. */
	violation: Error | null;
	/** What happened, for a check that the simulations do anything. */
	totals: { messages: number; processes: number; faults: number };
}

/** In virtual time: without faults everything must have come to its end by then. No client waits as long as its request may take. */
const SETTLE_LIMIT_MS = 5 * 60_000;
/** Everything is quiet for this long at the end: projections follow, and late timers have fired. */
const QUIET_MS = 40_000;
const MAX_STEPS = 100_000;
/** For how long a request is sent again that its node does not serve. */
const FORWARD_MS = 10_000;

/** Of the seeds whose number of nodes is not given, each fourth plays two. */
export function nodesOf(seed: number): 1 | 2 {
	return seed % 4 === 0 ? 2 : 1;
}

/** Plays one seed. The same seed always gives the same trace. */
export async function simulate(
	seed: number,
	{ nodes = nodesOf(seed), onTrace }: { nodes?: 1 | 2 | undefined; onTrace?: (line: string) => void } = {},
): Promise<SimulationResult> {
	const { plan, random } = makePlan(seed, nodes);
	const scheduler = new Scheduler(random);
	if (onTrace) scheduler.onTrace = onTrace;
	const restorePlatform = installVirtualPlatform(scheduler);
	const simulation = new Simulation(plan, random, scheduler);
	const onUnhandled = (error: unknown) => simulation.fail(error);
	process.on('unhandledRejection', onUnhandled);
	process.on('uncaughtException', onUnhandled);
	try {
		await simulation.run();
	} catch (error) {
		simulation.fail(error);
	} finally {
		process.off('unhandledRejection', onUnhandled);
		process.off('uncaughtException', onUnhandled);
		restorePlatform();
		simulation.close();
	}
	const { steps } = scheduler;
	return { steps, traceHash: scheduler.traceHash(), violation: simulation.violation, totals: simulation.totals };
}

class Simulation implements World, ProcessesHost {
	readonly scheduler: Scheduler;
	readonly random: Random;
	readonly db: Database;
	readonly ledger = new Ledger();
	readonly deploymentId: string;
	readonly model: SimulatedModel;
	readonly processes: Processes;
	readonly totals = { messages: 0, processes: 0, faults: 0 };
	isSettling = false;
	violation: Error | null = null;
	readonly #plan: Plan;
	readonly #network: Network;
	readonly #audit: CommitAudit;
	readonly #actions: Actions;

	constructor(plan: Plan, random: Random, scheduler: Scheduler) {
		this.#plan = plan;
		this.random = random;
		this.scheduler = scheduler;
		useIdGenerator(newIds(scheduler));
		this.db = openSimulatedDatabase();
		this.deploymentId = insertWorkspace(this.db, plan);
		this.model = new SimulatedModel(scheduler, plan.model);
		this.#network = new Network(
			scheduler,
			(avoid) => this.processes.pickServing(avoid),
			(error) => this.fail(error),
		);
		this.#audit = new CommitAudit(
			this.db,
			this.ledger,
			() => scheduler.wallClock + (plan.cluster ? 2 * MAX_CLOCK_OFFSET_MS : 0),
			// In a cluster a commit may still be under way when its actor is discarded: each moment is an interruption.
			() => (plan.cluster ? scheduler.time : this.totals.processes + this.totals.faults),
		);
		this.processes = new Processes(this, plan.cluster);
		this.#actions = new Actions(this, plan);
	}

	get pendingRequests(): number {
		return this.#network.pending;
	}

	async run(): Promise<void> {
		this.processes.startAll();
		this.#scheduleAction(this.#plan.actionCount);
		while (!this.isSettling) await this.#step();
		await this.#settle();
		this.totals.messages = checkStatement(this.db, 'SELECT count(*) FROM messages').pluck().get() as number;
		checkEnd({
			...{ db: this.db, ledger: this.ledger, model: this.model, followers: this.#actions.followers.all },
			...{ erased: this.#audit.erased, takenOver: this.#audit.log.takenOver },
		});
		checkStatistics(this.db, this.#audit.log.counts);
		for (const server of this.processes.running) server.endRetention();
		for (const server of this.processes.running) {
			await this.#await(server, () => checkInbox(server, this.db, this.ledger));
		}
	}

	fail(error: unknown): void {
		this.violation ??= error instanceof Error ? error : new Error(String(error));
	}

	close(): void {
		this.processes.close();
	}

	// The clients' side

	request(
		label: string,
		request: Omit<SimulatedRequest, 'signal'>,
		onOutcome: (outcome: Outcome) => void,
		giveUpMs?: number,
	): void {
		const firstAt = this.scheduler.time;
		const send = (avoid: SimulatedServer | null) => {
			this.#network.send({
				label,
				call: (server, signal) => callApi(server, { ...request, signal }),
				onOutcome: (outcome) => {
					// As a node passes it on that gets a request for another one.
					const isElsewhere = outcome !== 'lost' && outcome.isElsewhere;
					if (!isElsewhere || this.scheduler.time - firstAt > FORWARD_MS) onOutcome(outcome);
					else this.#network.hold(label, () => send(outcome.server));
				},
				giveUpMs,
				avoid,
				isOpenedAtOnce: ({ events }) => events !== null,
				discard: ({ events }) => void events?.close(),
			});
		};
		send(null);
	}

	perform<T>(
		label: string,
		call: (server: SimulatedServer, signal: AbortSignal) => Promise<T>,
		onOutcome: (outcome: T | 'lost') => void,
		giveUpMs?: number,
	): void {
		this.#network.send({ label, call, onOutcome, giveUpMs, isOpenedAtOnce: () => false, discard: () => {} });
	}

	later(label: string, delayMs: number, run: () => void): void {
		this.scheduler.schedule({ label, delayMs, owner: null, run });
	}

	conversationIds(): string[] {
		return checkStatement(this.db, 'SELECT id FROM conversations ORDER BY id').pluck().all() as string[];
	}

	// The writer's side

	nextFault(tasks: readonly WriterTask[]): WriterFault {
		this.#audit.beforeCommit(tasks);
		if (this.isSettling) return 'none';
		for (const [fault, chance] of this.#plan.faults) {
			if (!this.random.chance(chance)) continue;
			this.totals.faults++;
			return fault;
		}
		return 'none';
	}

	onCommitted(tasks: readonly WriterTask[], outcomes: readonly WriterOutcome[], owner: Owner): void {
		this.processes.publish(tasks, outcomes, owner);
		try {
			this.#audit.afterCommit(tasks, outcomes);
		} catch (error) {
			this.fail(error);
		}
	}

	kill(server: SimulatedServer): void {
		this.processes.kill(server);
	}

	onEnded(server: SimulatedServer): void {
		this.#network.loseAll(server);
		this.#actions.followers.disconnectFrom(server);
	}

	#scheduleAction(remaining: number): void {
		const delayMs = this.random.next() * this.#plan.maxPauseMs;
		this.later('', delayMs, () => {
			if (remaining === 0) {
				this.isSettling = true;
				return;
			}
			this.#actions.take(pickWeighted(this.random, this.#plan.actions));
			this.#scheduleAction(remaining - 1);
		});
	}

	async #step(): Promise<void> {
		if (!(await this.scheduler.step())) throw new Error('nothing is left to do');
		if (this.scheduler.steps > MAX_STEPS * (this.#plan.cluster ? 3 : 1)) throw new Error('the simulation does not end');
		if (this.violation) throw this.violation;
	}

	/** No faults any more: everything that was begun comes to its end. */
	async #settle(): Promise<void> {
		this.scheduler.trace('settling');
		this.model.isReliable = true;
		this.processes.settle();
		const limit = this.scheduler.time + SETTLE_LIMIT_MS;
		const unfinished = checkStatement(this.db, "SELECT count(*) FROM messages WHERE status = 'in_progress'").pluck();
		let quietSince = this.scheduler.time;
		while (this.scheduler.time - quietSince < QUIET_MS) {
			const { areUpToDate } = this.#actions.followers;
			if (!this.processes.areAllReady || this.#network.pending > 0 || unfinished.get() !== 0 || !areUpToDate)
				quietSince = this.scheduler.time;
			if (this.scheduler.time > limit) {
				throw new Violation(`${this.#network.pending} requests and ${unfinished.get()} replies do not end`);
			}
			await this.#step();
		}
	}

	/** Runs code of a process until its promise is settled. */
	async #await(owner: SimulatedServer, start: () => Promise<void>): Promise<void> {
		let result: { error?: unknown } | null = null;
		const run = () => {
			start().then(
				() => {
					result = {};
				},
				(error: unknown) => {
					result = { error };
				},
			);
		};
		if (this.scheduler.hasSeveralProcesses) this.scheduler.schedule({ label: '', delayMs: 0, owner, run });
		else run();
		while (result === null) await this.#step();
		const { error } = result as { error?: unknown };
		if (error !== undefined) throw error;
	}
}
