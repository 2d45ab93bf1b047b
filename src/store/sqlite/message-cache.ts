import { LruCache } from '../../base/index.ts';
import type { Commit, Write } from '../commit.ts';
import type { MessageRecord } from '../records.ts';

const MAX_MESSAGES = 1_000;
/** Characters of a message and of what it cites: longer ones are read from disk, so that all together are some megabytes. */
const MAX_CHARS = 4 * 1024;

/**
 * Messages as they were committed last. Each is read again at once, by everybody who follows its conversation; and only the
 * server itself writes messages, so what it has committed is what is on disk.
 */
export class MessageCache {
	readonly #messages = new LruCache<string, MessageRecord>(MAX_MESSAGES);

	get(id: string): MessageRecord | undefined {
		return this.#messages.get(id);
	}

	/** Takes in what is on disk now. */
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
				// Whose messages they are is not looked up: it is rare.
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
