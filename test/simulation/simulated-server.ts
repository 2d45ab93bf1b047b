import type { Database } from 'better-sqlite3';
import { Idempotency } from '../../src/access/index.ts';
import { type Clock, ClockJumpDetector, createLog, SecretBox } from '../../src/base/index.ts';
import { Conversations, Retention } from '../../src/conversations/index.ts';
import { Inbox, InboxProjector } from '../../src/inbox/index.ts';
import { createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { Statistics } from '../../src/statistics/index.ts';
import type { BlobStore } from '../../src/store/index.ts';
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { takeFence } from '../../src/store/sqlite/writer.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { SimulatedModel } from './simulated-model.ts';
import { SimulatedWriter, type WriterHost } from './simulated-writer.ts';

/** A reply that takes longer fails: shorter than in production, and longer than an idle actor stays in memory. */
export const REPLY_TIMEOUT_MS = 45_000;

const log = createLog('silent');
const secrets = new SecretBox(Buffer.alloc(32, 7));
/** The only file that the store writes in these simulations is that of a probe of the disk. */
const blobs = { probe: async () => {} } as unknown as BlobStore;

/** One process of the server: the real services on the simulated writer. It ends when `isAlive` becomes false. */
export class SimulatedServer implements Owner {
	isAlive = true;
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

	constructor(scheduler: Scheduler, db: Database, model: SimulatedModel, host: WriterHost, number: number) {
		const clock: Clock = { now: () => scheduler.wallClock, monotonicNow: () => scheduler.time };
		const fence = takeFence(db, 'main', `process ${number}`);
		this.#writer = new SimulatedWriter(host, db, fence, this);
		const store = new SqliteStore(this.#writer, db, blobs, fence, { dataDir: '/nonexistent', log });
		this.store = store;
		const jumpDetector = new ClockJumpDetector(clock);
		const outbox = new Outbox(store);
		this.conversations = new Conversations({
			...{ store, outbox, clock, log, replyTimeoutMs: REPLY_TIMEOUT_MS },
			knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
			tools: { functionsOf: async (tools) => tools.map(({ id }) => model.toolFunction(this, id)) },
			models: createModels({ providers: [{ id: 'simulated', models: null, chat: model.chatModel(this) }] }),
		});
		this.idempotency = new Idempotency({ store, clock, jumpDetector });
		this.#inboxProjector = new InboxProjector({ store, log });
		this.inbox = new Inbox({ store, projector: this.#inboxProjector, clock });
		this.#retention = new Retention({ store, conversations: this.conversations, jumpDetector, log });
		this.statistics = new Statistics({ store, clock, log });
	}

	async start(): Promise<void> {
		await this.conversations.start();
		this.#inboxProjector.start();
		this.#retention.start();
		this.statistics.start();
	}

	/** Ends at once. Nothing of it runs any more. */
	end(): void {
		this.isAlive = false;
		this.#writer.recover();
	}

	/** Stops as on SIGTERM: takes no new messages and lets running replies end. */
	async drain(deadlineMs: number): Promise<void> {
		await Promise.all([this.#retention.stop(), this.conversations.drain(deadlineMs)]);
	}
}
