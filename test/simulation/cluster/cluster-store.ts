import type { Commit, CommitOutcome } from '../../../src/store/commit.ts';
import type { EventsListener, Kind, Records, StoredEvent } from '../../../src/store/index.ts';
import { SqliteReaders } from '../../../src/store/sqlite/readers.ts';
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';

/** How the simulated database refuses a commit by its fence. For the embedded store, `fenced` is the end of the whole process. */
export const SHARD_FENCED = 'shard_fenced';

/** The store of one node: the SQL of the embedded store, on a database that other nodes write to as well. */
export class ClusterStore extends SqliteStore {
	readonly #listeners = new Set<EventsListener>();

	/** Without the cache of messages: other nodes change them too. */
	override get<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
		return SqliteReaders.prototype.get.call(this, kind, id) as Promise<Records[K] | undefined>;
	}

	override async commit(commit: Commit): Promise<CommitOutcome> {
		const result = await super.commit(commit);
		return (result.outcome as string) === SHARD_FENCED ? { outcome: 'fenced' } : result;
	}

	override onEvents(listener: EventsListener): () => void {
		this.#listeners.add(listener);
		const unsubscribe = super.onEvents(listener);
		return () => {
			this.#listeners.delete(listener);
			unsubscribe();
		};
	}

	/** Events of a workspace from another node, as the follower of the log finds them. */
	publishFromOtherNode(events: StoredEvent[]): void {
		for (const listener of this.#listeners) listener(events, undefined);
	}
}
