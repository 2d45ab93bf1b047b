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

	get(id: string): MessageRecord | undefined {
		return this.#messages.get(id);
	}

	/** Applies a commit that is on disk. */
	applyCommit({ write = [] }: Commit): void {
		for (const each of write) this.#applyWrite(each);
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
