import type { Database } from 'better-sqlite3';
import { IdGenerator, useIdGenerator } from '../../src/base/index.ts';
import type { StoredEvent } from '../../src/store/index.ts';
import type { WriterOutcome, WriterTask } from '../../src/store/sqlite/writer.ts';
import type { ClusterPlan } from './cluster/cluster-plan.ts';
import { SimulatedPlacement } from './cluster/simulated-placement.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { SimulatedModel } from './simulated-model.ts';
import { SimulatedServer } from './simulated-server.ts';
import type { WriterHost } from './simulated-writer.ts';

/** Within this time a node finds the events of the others. */
const LOG_POLL_MS = 500;

/** What the processes need of the simulation. */
export interface ProcessesHost extends WriterHost {
	readonly db: Database;
	readonly model: SimulatedModel;
	readonly totals: { processes: number; faults: number };
	readonly isSettling: boolean;
	fail(error: unknown): void;
	/** All connections of the process are lost. */
	onEnded(server: SimulatedServer): void;
}

/** The processes of the server: one, or two nodes of a cluster. A process that ends is followed by another one. */
export class Processes {
	readonly #host: ProcessesHost;
	readonly #scheduler: Scheduler;
	/** Null: there is one process. */
	readonly #cluster: { plan: ClusterPlan; placement: SimulatedPlacement } | null;
	readonly #count: number;
	/** Those that run, the earliest first. */
	readonly running: SimulatedServer[] = [];

	/** @param cluster null: there is one process */
	constructor(host: ProcessesHost, cluster: ClusterPlan | null) {
		const { scheduler } = host;
		this.#host = host;
		this.#scheduler = scheduler;
		this.#count = cluster ? 2 : 1;
		const onFault = () => this.#onInterruption();
		this.#cluster = cluster && {
			plan: cluster,
			placement: new SimulatedPlacement(() => scheduler.wallClock, onFault),
		};
		scheduler.hasSeveralProcesses = cluster !== null;
	}

	/** Whether all processes run and serve. */
	get areAllReady(): boolean {
		const ready = this.running.filter(({ isReady, isFrozen }) => isReady && !isFrozen);
		return ready.length === this.#count;
	}

	startAll(): void {
		for (let started = 0; started < this.#count; started++) this.#start();
	}

	/** A process that takes requests, a frozen one too; null while there is none. */
	pickServing(avoid: SimulatedServer | null = null): SimulatedServer | null {
		return this.#pick((server) => server.isReady && server !== avoid) ?? this.#pick(({ isReady }) => isReady);
	}

	/** A process that is running. */
	pickRunning(): SimulatedServer | null {
		return this.#pick(() => true);
	}

	/** Ends a process at once, with all that it has in memory, and starts another one later. */
	kill(server: SimulatedServer): void {
		if (!server.isAlive) return;
		this.#scheduler.trace(this.#count === 1 ? 'the process is killed' : `${server.name} is killed`);
		this.#end(server);
	}

	/** Stops a process as on SIGTERM. */
	drain(server: SimulatedServer): void {
		this.#scheduler.trace(this.#count === 1 ? 'the process is stopped' : `${server.name} is stopped`);
		this.#scheduler.enter(server);
		const deadlineMs = this.#scheduler.random.next() * 10_000;
		const end = () => {
			if (!server.isAlive) return;
			this.#cluster?.placement.remove(server.name);
			this.kill(server);
		};
		void server.drain(deadlineMs).then(end, end);
	}

	/** A process stands still, and so do its timers; its connections stay open. */
	freeze(server: SimulatedServer): void {
		if (!this.#cluster || server.isFrozen) return;
		const ms = this.#scheduler.random.next() * this.#cluster.plan.maxFreezeMs;
		this.#scheduler.trace(`${server.name} is frozen for ${ms.toFixed()} ms`);
		this.#host.totals.faults++;
		server.isFrozen = true;
		this.#later(`${server.name} wakes`, ms, () => this.#scheduler.wake(server));
	}

	/** What a process sends to the database arrives after some time only. */
	cutOff(server: SimulatedServer): void {
		if (!this.#cluster) return;
		const ms = this.#scheduler.random.next() * this.#cluster.plan.maxFreezeMs;
		this.#scheduler.trace(`${server.name} is cut off from the database for ${ms.toFixed()} ms`);
		this.#host.totals.faults++;
		server.node?.link.cutOff(ms);
	}

	/** The other nodes find the events of workspaces in the log. */
	publish(tasks: readonly WriterTask[], outcomes: readonly WriterOutcome[], committedBy: Owner): void {
		if (!this.#cluster) return;
		const events = tasks
			.flatMap((task, at) => eventsOf(task, outcomes[at]))
			.filter(({ stream }) => stream.startsWith('ws_'));
		if (events.length === 0) return;
		for (const server of this.running) {
			if (server === committedBy) continue;
			this.#scheduler.schedule({
				label: `${server.name} reads the log`,
				delayMs: this.#scheduler.random.next() * LOG_POLL_MS,
				owner: server,
				channel: `log of ${server.name}`,
				run: () => server.publishFromOtherNode(events),
			});
		}
	}

	/** No message between nodes and database is late or lost from now on. */
	settle(): void {
		for (const { node } of this.running) if (node) node.link.isReliable = true;
	}

	close(): void {
		for (const server of this.running) server.isAlive = false;
		useIdGenerator(new IdGenerator());
	}

	#pick(isEligible: (server: SimulatedServer) => boolean): SimulatedServer | null {
		const servers = this.running.filter(isEligible);
		if (servers.length <= 1) return servers[0] ?? null;
		return this.#scheduler.random.pick(servers as [SimulatedServer]);
	}

	#end(server: SimulatedServer): void {
		server.end();
		this.running.splice(this.running.indexOf(server), 1);
		this.#host.onEnded(server);
		const label = this.#count === 1 ? 'the server starts' : 'a node starts';
		this.#later(label, this.#scheduler.random.next() * 2_000, () => this.#start());
	}

	#start(): void {
		const { totals } = this.#host;
		const ids = newIds(this.#scheduler);
		useIdGenerator(ids);
		totals.processes++;
		const scheduler = this.#scheduler;
		const { db, model } = this.#host;
		const placement = this.#cluster?.placement;
		const offsets = this.#cluster?.plan.clockOffsets;
		const server: SimulatedServer = new SimulatedServer({
			...{ scheduler, db, model, host: this.#host, number: totals.processes, ids },
			clockOffsetMs: offsets ? scheduler.random.pick(offsets as [number]) : 0,
			cluster:
				this.#cluster && placement
					? { placement, habits: this.#cluster.plan.habits, onAbandoned: () => this.#onInterruption() }
					: null,
			enter: (owner) => this.#enterNew(owner),
		});
		if (this.#host.isSettling && server.node) server.node.link.isReliable = true;
		this.running.push(server);
		if (server.node)
			scheduler.schedule({ label: `${server.name} starts`, delayMs: 0, owner: server, run: () => this.#run(server) });
		else this.#run(server);
	}

	#run(server: SimulatedServer): void {
		server.start().catch((error: unknown) => {
			if (!server.isAlive) return;
			// A node that gets no lease at its start ends, and is started again.
			if (server.node) this.kill(server);
			else this.#host.fail(error);
		});
	}

	/** The constructors of a process start timers. */
	#enterNew(server: SimulatedServer): void {
		this.#scheduler.currentOwner = server;
		this.#scheduler.enter(server);
	}

	#onInterruption(): void {
		this.#host.totals.faults++;
	}

	#later(label: string, delayMs: number, run: () => void): void {
		this.#scheduler.schedule({ label, delayMs, owner: null, run });
	}
}

function eventsOf(task: WriterTask, outcome: WriterOutcome | undefined): StoredEvent[] {
	if (task.task !== 'commit' || !outcome?.ok || !('outcome' in outcome.value)) return [];
	const committed = outcome.value;
	if (committed.outcome !== 'committed') return [];
	return (task.commit.events ?? []).map((event, at) => ({ ...event, seq: committed.seqs[at] as number }));
}

/** The identifiers of one process. */
export function newIds(scheduler: Scheduler): IdGenerator {
	const fillRandom = (buffer: Buffer) => {
		for (let at = 0; at < buffer.length; at += 4) buffer.writeUInt32LE(scheduler.random.between(0, 0xffffffff), at);
	};
	return new IdGenerator({ now: () => scheduler.processClock, fillRandom });
}
