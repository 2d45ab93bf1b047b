import { type Log, messageOf } from '../base/index.ts';
import type { NoticeType } from '../contract/index.ts';
import type { Commit, Store } from '../store/index.ts';
import { presentDelivery } from './present-delivery.ts';

/** Changes are collected for this long (ms), so that the attempts of a busy endpoint give few notices. */
const COLLECT_MS = 200;
/** Deliveries that are reported at once. More belong to a burst, in which later notices follow. */
const MAX_DELIVERIES = 100;

/** Where notices go. */
interface NoticeTarget {
	/** Whether any workspace has a follower. */
	readonly isFollowed: boolean;
	hasFollowers(workspaceId: string): boolean;
	onFollowersChange(listener: () => void): () => void;
	publish(workspaceId: string, notice: { type: NoticeType; subject: string; data: unknown }): void;
}

export interface DeliveryNoticesOptions {
	store: Pick<Store, 'get' | 'onCommits'>;
	notices: NoticeTarget;
	log: Log;
}

/**
 * Tells the followers of a workspace which deliveries have changed: after an attempt, a retry or a failure. New deliveries need no
 * notice: the event that they deliver is in the stream itself.
 */
export class DeliveryNotices implements Disposable {
	readonly #options: DeliveryNoticesOptions;
	readonly #unwatch: () => void;
	/** Ends the listening to commits; null while there are no followers. */
	#unlisten: (() => void) | null = null;
	#timer: NodeJS.Timeout | undefined;
	#changed = new Set<string>();

	constructor(options: DeliveryNoticesOptions) {
		this.#options = options;
		this.#unwatch = options.notices.onFollowersChange(() => this.#followCommits());
	}

	[Symbol.dispose](): void {
		this.#unwatch();
		this.#unlisten?.();
		clearTimeout(this.#timer);
	}

	/** Listens while there are followers: commits cost nothing otherwise. */
	#followCommits(): void {
		const { store, notices } = this.#options;
		if (notices.isFollowed) {
			this.#unlisten ??= store.onCommits((commit) => this.#collect(commit));
			return;
		}
		this.#unlisten?.();
		this.#unlisten = null;
	}

	#collect({ write = [] }: Commit): void {
		for (const change of write) {
			const isDelivery = change.op === 'patch' && change.kind === 'deliveries';
			if (!isDelivery || this.#changed.size >= MAX_DELIVERIES) continue;
			this.#changed.add(change.id);
			this.#timer ??= setTimeout(() => void this.#publishCollected(), COLLECT_MS).unref();
		}
	}

	async #publishCollected(): Promise<void> {
		const changed = this.#changed;
		this.#timer = undefined;
		this.#changed = new Set();
		const { store, notices, log } = this.#options;
		try {
			for (const id of changed) {
				const record = await store.get('deliveries', id);
				if (!record || !notices.hasFollowers(record.workspace_id)) continue;
				const data = presentDelivery(record);
				notices.publish(record.workspace_id, { type: 'webhook_delivery.updated', subject: id, data });
			}
		} catch (error) {
			// Followers read the deliveries again with the next notice, or when they connect again.
			log.warn({ error: messageOf(error) }, 'notices of deliveries could not be published');
		}
	}
}
