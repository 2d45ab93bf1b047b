import { LinkedList, type LinkedNode } from '../base/index.ts';

/** A stream that sends a comment when it has sent nothing for a while. */
export interface HeartbeatStream extends LinkedNode<HeartbeatStream> {
	/** When it sent something last (`performance.now()`). Only `Heartbeats` writes it. */
	sentAt: number;
	sendHeartbeat(): void;
}

/** The heartbeats of all event streams of a server, on one timer. A timer for each stream would take more memory. */
export class Heartbeats {
	readonly #intervalMs: number;
	/** The stream that has been silent for longest comes first. */
	readonly #streams = new LinkedList<HeartbeatStream>();
	#timer: NodeJS.Timeout | null = null;

	constructor(intervalMs: number) {
		this.#intervalMs = intervalMs;
	}

	add(stream: HeartbeatStream): void {
		stream.sentAt = performance.now();
		this.#streams.append(stream);
		this.#timer ??= setTimeout(() => this.#sendDue(), this.#intervalMs);
	}

	/** The stream has sent something. */
	recordWrite(stream: HeartbeatStream): void {
		stream.sentAt = performance.now();
		this.#streams.moveToEnd(stream);
	}

	/** Called once for each added stream. */
	remove(stream: HeartbeatStream): void {
		this.#streams.remove(stream);
		if (this.#streams.first !== undefined || this.#timer === null) return;
		clearTimeout(this.#timer);
		this.#timer = null;
	}

	#sendDue(): void {
		this.#timer = null;
		const now = performance.now();
		for (;;) {
			const stream = this.#streams.first;
			if (stream === undefined) return;
			const remainingMs = stream.sentAt + this.#intervalMs - now;
			if (remainingMs > 0) {
				this.#timer = setTimeout(() => this.#sendDue(), Math.ceil(remainingMs));
				return;
			}
			// A stream whose client takes nothing sends nothing. It is due again only after the interval, too.
			this.recordWrite(stream);
			stream.sendHeartbeat();
		}
	}
}
