import { AppError } from '../base/index.ts';
import type { EndUser } from '../contract/index.ts';
import type { Commit, ErasureRecord, FenceOf, ListPosition, Store } from '../store/index.ts';

/** Seconds after which a visitor may try again. */
const RETRY_AFTER = 5;
/** Erasures of one read. */
const PAGE_SIZE = 100;

/**
 * The end users whose rows are being erased, in memory: a message needs no read.
 * 1. `refresh` at the start of the process reads those that the last one has left.
 * 2. Each commit that begins an erasure adds its end user before the caller hears of it.
 * 3. Each commit that may end one looks whether it has.
 * 4. A commit whose answer was lost is on disk, and not heard of: `refresh` repeats before each run of the erasures.
 *
 * In a cluster other nodes begin erasures as well, so each message of an end user reads the store.
 */
export class RunningErasures implements Disposable {
	readonly #store: Pick<Store, 'get' | 'list'>;
	readonly #isShared: boolean;
	/** The id of the erasure, by workspace and end user. */
	readonly #ids = new Map<string, string>();
	readonly #unlisten: () => void;

	/** @param fenceOf absent: the store has one owner */
	constructor(store: Pick<Store, 'get' | 'list' | 'onCommits'>, fenceOf?: FenceOf) {
		this.#store = store;
		this.#isShared = fenceOf !== undefined;
		this.#unlisten = this.#isShared ? () => {} : store.onCommits((commit) => this.#follow(commit));
	}

	/**
	 * Refuses a message of an end user whose data is being erased, so that the erasure ends. A message that is stored although one has
	 * just begun belongs to the rows that it erases.
	 * @throws AppError `unavailable`
	 */
	requireNone(workspaceId: string, endUser: EndUser | null): void | Promise<void> {
		if (endUser === null) return;
		if (this.#isShared) return this.#requireNoneStored(workspaceId, endUser.id);
		if (this.#ids.size > 0 && this.#ids.has(keyOf(workspaceId, endUser.id))) throw isBeingErasedError();
	}

	/** Reads them from the store. */
	async refresh(): Promise<void> {
		if (!this.#isShared) await this.#readAll();
	}

	[Symbol.dispose](): void {
		this.#unlisten();
	}

	/** An erasure forgets its end user with its last row. */
	async #requireNoneStored(workspace_id: string, end_user_id: string): Promise<void> {
		const query = { where: { workspace_id, end_user_id }, order: 'asc', limit: 1 } as const;
		if ((await this.#store.list('erasures', query)).length > 0) throw isBeingErasedError();
	}

	async #readAll(): Promise<void> {
		const before = [...this.#ids];
		const stored = new Set<string>();
		let after: ListPosition | undefined;
		for (;;) {
			const query = { where: { status: 'erasing' as const }, order: 'asc' as const, after, limit: PAGE_SIZE };
			const page = await this.#store.list('erasures', query);
			for (const record of page) {
				stored.add(record.id);
				await this.#addUnknown(record);
			}
			const last = page.at(-1);
			if (!last || page.length < PAGE_SIZE) break;
			after = { at: last.created_at, id: last.id };
		}
		for (const [key, id] of before) if (!stored.has(id)) this.#remove(key, id);
	}

	#follow({ write }: Commit): void {
		for (const change of write ?? []) {
			if (change.op === 'insert' && change.kind === 'erasures') this.#add(change.record);
			else if (change.op === 'end_erasure') {
				// After a failed read the end user is refused until the next refresh.
				this.#removeIfEnded(change.id).catch(() => {});
			}
		}
	}

	#add({ id, workspace_id, end_user_id }: Pick<ErasureRecord, 'id' | 'workspace_id' | 'end_user_id'>): void {
		if (end_user_id !== null) this.#ids.set(keyOf(workspace_id, end_user_id), id);
	}

	async #addUnknown(record: ErasureRecord): Promise<void> {
		const { id, workspace_id, end_user_id } = record;
		if (end_user_id === null || this.#ids.get(keyOf(workspace_id, end_user_id)) === id) return;
		this.#add(record);
		// It may have ended since the list was read.
		await this.#removeIfEnded(id);
	}

	async #removeIfEnded(erasureId: string): Promise<void> {
		if ((await this.#store.get('erasures', erasureId))?.status === 'erasing') return;
		for (const [key, id] of this.#ids) if (id === erasureId) this.#remove(key, id);
	}

	/** Another erasure of the end user may have begun. */
	#remove(key: string, id: string): void {
		if (this.#ids.get(key) === id) this.#ids.delete(key);
	}
}

function isBeingErasedError(): AppError {
	return new AppError('unavailable', 'What is stored about you is being erased. Try again in a moment.', {
		retry_after: RETRY_AFTER,
	});
}

function keyOf(workspaceId: string, endUserId: string): string {
	return `${workspaceId} ${endUserId}`;
}
