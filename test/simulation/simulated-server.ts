import type { Database } from 'better-sqlite3';
import { Idempotency } from '../../src/access/index.ts';
import {
	type Clock,
	ClockJumpDetector,
	createLog,
	type IdGenerator,
	SecretBox,
	useIdGenerator,
} from '../../src/base/index.ts';
import { ClusterMember } from '../../src/cluster-member.ts';
import { Conversations, Retention } from '../../src/conversations/index.ts';
import { Inbox, InboxProjector } from '../../src/inbox/index.ts';
import { createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { Statistics } from '../../src/statistics/index.ts';
import type { BlobStore, PlacementStore, StoredEvent } from '../../src/store/index.ts';
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { type Fence, takeFence } from '../../src/store/sqlite/writer.ts';
import { checkStatement } from './check-statements.ts';
import type { ClusterHabits } from './cluster/cluster-plan.ts';
import { ClusterStore } from './cluster/cluster-store.ts';
import { NodeLink, placementStoreOf } from './cluster/node-link.ts';
import type { SimulatedPlacement } from './cluster/simulated-placement.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { SimulatedModel } from './simulated-model.ts';
import { SimulatedWriter, type WriterHost, type WriterLink } from './simulated-writer.ts';

/** A reply that takes longer fails: shorter than in production, and longer than an idle actor stays in memory. */
export const REPLY_TIMEOUT_MS = 45_000;

const log = createLog('silent');
const secrets = new SecretBox(Buffer.alloc(32, 7));
/** The only file that the store writes in these simulations is that of a probe of the disk. */
const blobs = { probe: async () => {} } as unknown as BlobStore;

/** What a process has of its cluster. */
export interface ClusterParts {
	placement: SimulatedPlacement;
	habits: ClusterHabits;
	/** Its actors with unfinished work are discarded. */
	onAbandoned(): void;
}

export interface ServerOptions {
	scheduler: Scheduler;
	db: Database;
	model: SimulatedModel;
	host: WriterHost;
	/** Of all processes of the simulation, in the order of their starts. */
	number: number;
	ids: IdGenerator;
	clockOffsetMs: number;
	/** Null: it is the only process. */
	cluster: ClusterParts | null;
	/** Its code runs from now on: called before its parts are made, which start timers. */
	enter(server: SimulatedServer): void;
}

/** One process of the server: the real services on the simulated writer. It ends when `isAlive` becomes false. */
export class SimulatedServer implements Owner {
	isAlive = true;
	isFrozen = false;
	/** Whether it serves requests. */
	isReady: boolean;
	readonly name: string;
	readonly clockOffsetMs: number;
	/** Null: it is the only process. */
	readonly node: { member: ClusterMember; link: NodeLink } | null;
	readonly store: SqliteStore;
	readonly conversations: Conversations;
	readonly inbox: Inbox;
	readonly idempotency: Idempotency;
	readonly statistics: Statistics;
	readonly secrets = secrets;
	readonly log = log;
	readonly #writer: SimulatedWriter;
	readonly #inboxProjector: InboxProjector;
	readonly #retention: Retention;
	readonly #ids: IdGenerator;

	constructor({ scheduler, db, model, host, number, ids, clockOffsetMs, cluster, enter }: ServerOptions) {
		this.name = `process ${number}`;
		this.clockOffsetMs = clockOffsetMs;
		this.isReady = cluster === null;
		this.#ids = ids;
		enter(this);
		const clock: Clock = { now: () => scheduler.wallClock + clockOffsetMs, monotonicNow: () => scheduler.time };
		const link = cluster && new NodeLink(scheduler, this, cluster.habits);
		const fence = cluster ? takeFenceOfNode(db, this.name, number) : takeFence(db, 'main', this.name);
		const writerLink = cluster && link && writerLinkOf(cluster.placement, link);
		this.#writer = new SimulatedWriter(host, db, fence, this, writerLink);
		const Store = cluster ? ClusterStore : SqliteStore;
		const store = new Store(this.#writer, db, blobs, fence, { dataDir: '/nonexistent', log });
		this.store = store;
		const leases = cluster && link && placementStoreOf(cluster.placement, this.name, link, () => host.kill(this));
		if (cluster) cluster.placement.join(this.name);
		this.node = link && leases && { link, member: openMember(leases, this.name, clock) };
		const fenceOf = this.node?.member.fenceOf;
		const jumpDetector = new ClockJumpDetector(clock);
		const outbox = new Outbox(store, fenceOf);
		this.conversations = new Conversations({
			...{ store, outbox, clock, log, replyTimeoutMs: REPLY_TIMEOUT_MS },
			...(fenceOf === undefined ? {} : { fenceOf }),
			knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
			tools: { functionsOf: async (tools) => tools.map(({ id }) => model.toolFunction(this, id)) },
			models: createModels({ providers: [{ id: 'simulated', models: null, chat: model.chatModel(this) }] }),
		});
		this.idempotency = new Idempotency({ store, jumpDetector });
		this.#inboxProjector = new InboxProjector({ store, log });
		this.inbox = new Inbox({ store, projector: this.#inboxProjector, clock });
		this.#retention = new Retention({ store, conversations: this.conversations, jumpDetector, log });
		this.statistics = new Statistics({ store, clock, log });
		if (cluster) reportAbandonedWork(this.conversations, cluster);
	}

	onEnter(): void {
		useIdGenerator(this.#ids);
	}

	/** Whether another node serves this conversation. */
	isElsewhere(id: string): boolean {
		return this.node?.member.fenceOf(id) === null;
	}

	async start(): Promise<void> {
		await this.node?.member.start({ conversations: this.conversations, deliverer: NO_DELIVERIES });
		await this.conversations.start();
		this.#inboxProjector.start();
		this.#retention.start();
		this.statistics.start();
		this.isReady = true;
	}

	/** Ends at once. Nothing of it runs any more. */
	end(): void {
		this.isAlive = false;
		this.#writer.recover();
	}

	/** Events that another node has stored. */
	publishFromOtherNode(events: StoredEvent[]): void {
		if (this.store instanceof ClusterStore) this.store.publishFromOtherNode(events);
	}

	/** Erases no more conversations: they are compared with what is stored. */
	endRetention(): void {
		this.#retention.stop();
	}

	/** Stops as on SIGTERM: takes no new messages and lets running replies end. */
	async drain(deadlineMs: number): Promise<void> {
		await this.node?.member.leave(deadlineMs);
		await Promise.all([this.#retention.stop(), this.conversations.drain(deadlineMs)]);
	}
}

/** Simulated servers have no webhooks. */
const NO_DELIVERIES = { release: async () => {}, resume() {} };

/** The epoch by which leases of jobs are known. Each process has its own, and none ends another one's. */
function takeFenceOfNode(db: Database, name: string, epoch: number): Fence {
	const fence = takeFence(db, name, name);
	checkStatement(db, 'UPDATE fences SET epoch = ? WHERE shard = ?').run(epoch, name);
	return { ...fence, epoch };
}

function writerLinkOf(placement: SimulatedPlacement, link: NodeLink): WriterLink {
	return {
		request: (label, run, lateMs) => link.request(label, run, lateMs),
		respond: (label, run) => link.respond(label, run),
		admits: ({ fence }) => fence === undefined || placement.holds(fence),
	};
}

function openMember(store: PlacementStore, nodeId: string, clock: Clock): ClusterMember {
	return new ClusterMember({
		...{ store, nodeId, secretKey: Buffer.alloc(32, 7), clock, log, jumpDetector: { compare() {} } },
		onPeerFailure() {},
	});
}

/** A reply may be interrupted from then on. */
function reportAbandonedWork(conversations: Conversations, { onAbandoned }: ClusterParts): void {
	const abandonWhere = conversations.abandonWhere.bind(conversations);
	conversations.abandonWhere = (isLost) => {
		if ([...conversations.busyIds()].some(isLost)) onAbandoned();
		abandonWhere(isLost);
	};
}
