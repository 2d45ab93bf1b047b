import { type Log, messageOf } from '../base/index.ts';
import type { NoticeType } from '../contract/index.ts';
import { ChangedIds, type Store } from '../store/index.ts';
import { presentDelivery } from './present-delivery.ts';

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
	store: Pick<Store, 'get' | 'hints' | 'onCommits'>;
	notices: NoticeTarget;
	log: Log;
}

/**
 * Tells the followers of a workspace which deliveries have changed, on any node: after an attempt, a retry or a failure. New deliveries
 * need no notice: the event that they deliver is in the stream itself.
 */
export class DeliveryNotices implements Disposable {
	readonly #options: DeliveryNoticesOptions;
	readonly #unwatch: () => void;
	readonly #changed: ChangedIds<'deliveries'>;

	constructor(options: DeliveryNoticesOptions) {
		this.#options = options;
		const { store, notices } = options;
		this.#changed = new ChangedIds({
			store,
			topics: ['deliveries'],
			select({ write = [] }, add) {
				for (const change of write)
					if (change.op === 'patch' && change.kind === 'deliveries') add('deliveries', change.id);
			},
			isFollowed: () => notices.isFollowed,
			onChanged: (ids) => void this.#publish(ids.get('deliveries') ?? new Set()),
			maxIds: MAX_DELIVERIES,
		});
		this.#unwatch = notices.onFollowersChange(() => this.#changed.onFollowersChange());
	}

	[Symbol.dispose](): void {
		this.#unwatch();
		this.#changed[Symbol.dispose]();
	}

	async #publish(changed: ReadonlySet<string>): Promise<void> {
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
