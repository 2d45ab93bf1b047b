import Database from 'better-sqlite3';
import * as sqliteVec from 'sqlite-vec';
import type { Commit, CommitOutcome, Store, StoredEvent } from '../../../src/store/index.ts';
import { migrate } from '../../../src/store/sqlite/migrations.ts';
import { SqliteReaders } from '../../../src/store/sqlite/readers.ts';
import { takeFence, Writer } from '../../../src/store/sqlite/writer.ts';
import type { Random } from '../../support/random.ts';
import type { FakeTime } from './fake-time.ts';

let empty: Buffer | undefined;

/** The disk of the simulated server: the real schema and the real statements, in memory. */
export function openDisk(): Database.Database {
	empty ??= migratedImage();
	const db = new Database(empty);
	sqliteVec.load(db);
	return db;
}

/** A new database as bytes, with which every simulation starts. */
function migratedImage(): Buffer {
	const db = new Database(':memory:');
	sqliteVec.load(db);
	migrate(db);
	const bytes = db.serialize();
	db.close();
	return bytes;
}

/** The store of one process of the simulated server: commits take time, and a crash may come before, between and after. */
export class SimulatedStore extends SqliteReaders {
	readonly #writer: Writer;
	readonly #time: FakeTime;
	readonly #random: Random;
	readonly #listeners = new Set<(events: StoredEvent[]) => void>();
	#crashed = false;
	readonly fence: Store['fence'];

	constructor(db: Database.Database, time: FakeTime, random: Random) {
		super(db);
		this.fence = takeFence(db, 'main', 'simulated');
		this.#writer = new Writer(db, { shard: 'main', ...this.fence });
		this.#time = time;
		this.#random = random;
	}

	/** From now on nothing is written, and no listener gets earlier events. */
	crash(): void {
		this.#crashed = true;
	}

	commit(commit: Commit): Promise<CommitOutcome> {
		return new Promise((resolve, reject) => {
			this.#later(() => {
				const [outcome] = this.#writer.run([{ task: 'commit', commit }]);
				this.#later(() => {
					if (!outcome?.ok) return reject(new Error(outcome?.message));
					const value = outcome.value as CommitOutcome;
					this.#publish(commit, value);
					resolve(value);
				});
			});
		});
	}

	onEvents(listener: (events: StoredEvent[]) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	#later(act: () => void): void {
		this.#time.at(this.#time.now() + this.#random.between(0, 4), () => {
			if (!this.#crashed) act();
		});
	}

	#publish(commit: Commit, value: CommitOutcome): void {
		if (value.outcome !== 'committed' || !commit.events?.length) return;
		const events = commit.events.map((event, index) => ({ ...event, seq: value.seqs[index] as number }));
		for (const listener of this.#listeners) listener(events);
	}
}
