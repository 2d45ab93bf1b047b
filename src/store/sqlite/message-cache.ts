import { LruCache } from '../../base/index.ts';
import type { Commit, Write } from '../commit.ts';
import type { MessageRecord } from '../conversation-records.ts';

const MAX_MESSAGES = 1_000;
/** Characters of a message with its citations. Longer messages are read from disk, so that the cache takes some megabytes at most. */
const MAX_CHARS = 4 * 1024;

/**
 * The latest committed messages. Every follower of a conversation reads a message right after its commit. Only the server
 * writes messages, so its commits are what is on disk.
 */
export class MessageCache {
	readonly #messages = new LruCache<string, MessageRecord>(MAX_MESSAGES);
	/** Messages that commits in flight change, with the number of these commits. */
	readonly #inFlight = new Map<string, number>();

	/** Undefined also while a commit in flight changes the message: it may be on disk already, with an event that a reader of the log has. */
	get(id: string): MessageRecord | undefined {
		return this.#inFlight.has(id) ? undefined : this.#messages.get(id);
	}

	/** A commit is about to be sent to the writer. `endCommit` follows. */
	beginCommit({ write = [] }: Commit): void {
		for (const each of write) {
			const id = messageOf(each);
			if (id !== null) this.#inFlight.set(id, (this.#inFlight.get(id) ?? 0) + 1);
		}
	}

	/** The outcome of a commit is known. @param isCommitted whether it is on disk */
	endCommit({ write = [] }: Commit, isCommitted: boolean): void {
		for (const each of write) {
			const id = messageOf(each);
			if (id !== null) this.#release(id);
			if (isCommitted) this.#applyWrite(each);
		}
	}

	#release(id: string): void {
		const count = this.#inFlight.get(id) ?? 0;
		if (count > 1) this.#inFlight.set(id, count - 1);
		else this.#inFlight.delete(id);
	}

	#applyWrite(write: Write): void {
		switch (write.op) {
			case 'insert':
				if (write.kind === 'messages') this.#cache({ ...write.record, version: 1 });
				return;
			case 'patch': {
				if (write.kind !== 'messages') return;
				const before = this.#messages.get(write.id);
				if (before === undefined) return;
				const set = Object.fromEntries(Object.entries(write.set).filter(([, value]) => value !== undefined));
				this.#cache({ ...before, ...set, version: before.version + 1 });
				return;
			}
			case 'remove':
				if (write.kind === 'messages') this.#messages.delete(write.id);
				return;
			case 'erase_conversation':
				// Erasure is rare, so the cache does not look up which messages belong to the conversation.
				this.#messages.clear();
		}
	}

	#cache(message: MessageRecord): void {
		const cited = message.citations.reduce(
			(sum, { title, url, text }) => sum + title.length + (url?.length ?? 0) + text.length,
			0,
		);
		const isShort = message.content.length + cited <= MAX_CHARS && message.tool_calls.length === 0;
		if (isShort) this.#messages.set(message.id, message);
		else this.#messages.delete(message.id);
	}
}

/** The message that a write changes; null for other writes. */
function messageOf(write: Write): string | null {
	if (write.op === 'insert') return write.kind === 'messages' ? write.record.id : null;
	return (write.op === 'patch' || write.op === 'remove') && write.kind === 'messages' ? write.id : null;
}
