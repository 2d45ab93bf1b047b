import type { Commit } from './commit.ts';
import type { HintTopic } from './hints.ts';
import type { Store } from './store.ts';

export interface ChangedIdsOptions<Topic extends HintTopic> {
	store: Pick<Store, 'hints' | 'onCommits'>;
	topics: readonly Topic[];
	/** Adds the ids that a commit changes. */
	select(commit: Commit, add: (topic: Topic, id: string) => void): void;
	/** Whether anything here needs the ids. `onFollowersChange` reports changes of this. */
	isFollowed(): boolean;
	/** Gets the ids of a moment, from all nodes, while they are needed. */
	onChanged(ids: ReadonlyMap<Topic, ReadonlySet<string>>): void;
	/** Ids of a moment, of each topic. More are dropped. */
	maxIds: number;
}

/** Changes are collected for this long (ms), so that many give few notices. */
const COLLECT_MS = 200;

/**
 * The ids of what commits change, on this node and by hints on the others. While there are no followers anywhere, commits cost nothing
 * worth naming.
 */
export class ChangedIds<Topic extends HintTopic> implements Disposable {
	readonly #options: ChangedIdsOptions<Topic>;
	#unlisten: (() => void) | null = null;
	/** Ends the listening to hints; null while there are no followers here. */
	#unsubscribe: (() => void) | null = null;
	#timer: NodeJS.Timeout | undefined;
	#own = new Map<Topic, Set<string>>();
	#ofOthers = new Map<Topic, Set<string>>();

	constructor(options: ChangedIdsOptions<Topic>) {
		this.#options = options;
		// Other nodes may have followers.
		if (options.store.hints !== undefined) this.#listen();
	}

	/** Call it whenever `isFollowed` may have changed. */
	onFollowersChange(): void {
		const { store, topics, isFollowed } = this.#options;
		const { hints } = store;
		if (!isFollowed()) {
			if (hints === undefined) this.#stopListening();
			this.#unsubscribe?.();
			this.#unsubscribe = null;
			return;
		}
		this.#listen();
		if (hints === undefined || this.#unsubscribe !== null) return;
		const ends = topics.map((topic) =>
			hints.subscribe(topic, (ids) => {
				for (const id of ids) this.#add(this.#ofOthers, topic, id);
			}),
		);
		this.#unsubscribe = () => {
			for (const end of ends) end();
		};
	}

	[Symbol.dispose](): void {
		this.#stopListening();
		this.#unsubscribe?.();
		clearTimeout(this.#timer);
	}

	#listen(): void {
		const { store, topics, select, isFollowed } = this.#options;
		const add = (topic: Topic, id: string) => this.#add(this.#own, topic, id);
		this.#unlisten ??= store.onCommits((commit) => {
			if (isFollowed() || topics.some((topic) => store.hints?.isListenedTo(topic))) select(commit, add);
		});
	}

	#stopListening(): void {
		this.#unlisten?.();
		this.#unlisten = null;
	}

	#add(to: Map<Topic, Set<string>>, topic: Topic, id: string): void {
		const ids = to.get(topic) ?? new Set();
		to.set(topic, ids);
		if (ids.size < this.#options.maxIds) ids.add(id);
		this.#timer ??= setTimeout(() => this.#handOver(), COLLECT_MS).unref();
	}

	#handOver(): void {
		const { store, isFollowed, onChanged } = this.#options;
		const all = this.#ofOthers;
		for (const [topic, ids] of this.#own) {
			store.hints?.publish(topic, ids);
			all.set(topic, new Set([...(all.get(topic) ?? []), ...ids]));
		}
		this.#timer = undefined;
		this.#own = new Map();
		this.#ofOthers = new Map();
		if (isFollowed()) onChanged(all);
	}
}
