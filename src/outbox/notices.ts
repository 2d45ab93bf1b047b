import { AppError, type PullSource, type SourceReader } from '../base/index.ts';
import type { NoticeType } from '../contract/index.ts';

/** What the followers of a workspace are told beside its log. It is not stored, and a follower that is away misses it. */
export interface Notice {
	type: NoticeType;
	/** Names the subject: of a subject's waiting notices of one type, a follower gets the last. */
	subject: string;
	data: unknown;
}

/** Notices that wait for one follower. */
const MAX_WAITING = 2_000;

/** Notices of workspaces, for those who follow them now. */
export class Notices {
	readonly #followers = new Map<string, Set<Follower>>();
	readonly #watchers = new Set<() => void>();

	/** Whether any workspace has a follower. */
	get isFollowed(): boolean {
		return this.#followers.size > 0;
	}

	/** Whether a workspace has a follower. */
	hasFollowers(workspaceId: string): boolean {
		return this.#followers.has(workspaceId);
	}

	/** Calls the listener whenever `isFollowed` may have changed. Returns a function that ends this. */
	onFollowersChange(listener: () => void): () => void {
		this.#watchers.add(listener);
		return () => this.#watchers.delete(listener);
	}

	/** Tells the followers of a workspace. */
	publish(workspaceId: string, notice: Notice): void {
		for (const follower of this.#followers.get(workspaceId) ?? []) follower.add(notice);
	}

	/**
	 * The notices of a workspace from when the source is opened. A follower that reads too slowly fails with `unavailable`.
	 */
	subscribe(workspaceId: string): PullSource<Notice> {
		return new Follower(
			(follower) => this.#join(workspaceId, follower),
			(follower) => this.#leave(workspaceId, follower),
		);
	}

	#join(workspaceId: string, follower: Follower): void {
		const followers = this.#followers.get(workspaceId) ?? new Set();
		this.#followers.set(workspaceId, followers.add(follower));
		for (const watcher of this.#watchers) watcher();
	}

	#leave(workspaceId: string, follower: Follower): void {
		const followers = this.#followers.get(workspaceId);
		if (!followers?.delete(follower)) return;
		if (followers.size === 0) this.#followers.delete(workspaceId);
		for (const watcher of this.#watchers) watcher();
	}
}

/** The waiting notices of one follower. */
class Follower implements PullSource<Notice> {
	readonly #join: (follower: Follower) => void;
	readonly #leave: (follower: Follower) => void;
	/** By type and subject, in the order of their first notice. */
	readonly #waiting = new Map<string, Notice>();
	#reader: SourceReader | null = null;
	/** Notices were dropped: the source fails after it. */
	#hasOverflowed = false;
	isEnded = false;

	constructor(join: (follower: Follower) => void, leave: (follower: Follower) => void) {
		this.#join = join;
		this.#leave = leave;
	}

	open(reader: SourceReader): void {
		if (this.isEnded) return;
		this.#reader = reader;
		this.#join(this);
	}

	add(notice: Notice): void {
		if (this.#hasOverflowed) return;
		this.#waiting.set(`${notice.type} ${notice.subject}`, notice);
		if (this.#waiting.size > MAX_WAITING) {
			this.#hasOverflowed = true;
			this.#waiting.clear();
		}
		this.#reader?.onReadable();
	}

	read(): Notice | null {
		if (this.isEnded) return null;
		for (const [key, notice] of this.#waiting) {
			this.#waiting.delete(key);
			return notice;
		}
		if (!this.#hasOverflowed) return null;
		this.close();
		throw new AppError('unavailable', 'The stream was read too slowly. Open it again.');
	}

	close(): void {
		this.isEnded = true;
		this.#waiting.clear();
		this.#leave(this);
	}
}
