import type { PullSource, SourceReader } from './pull-source.ts';

/** Decides whether the events of a use may be sent: a `RevocableUse`. */
export interface EventPermission {
	/** Resolves when the pending checks are done; null where none is pending. */
	readonly pendingCheck: Promise<unknown> | null;
	readonly hasExpired: boolean;
	readonly isEnded: boolean;
	revoke(): void;
	end(): void;
}

/** The events of a use, up to the first that is no longer permitted. The use ends with them. */
export class PermittedEvents<E> implements PullSource<E>, SourceReader {
	readonly #events: PullSource<E>;
	readonly #use: EventPermission;
	#reader: SourceReader | null = null;
	#isAwaitingCheck = false;
	#isEnded = false;

	constructor(events: PullSource<E>, use: EventPermission) {
		this.#events = events;
		this.#use = use;
	}

	get isEnded(): boolean {
		return this.#isEnded;
	}

	open(reader: SourceReader): void {
		if (this.#use.isEnded) void this.close();
		if (this.#isEnded) return;
		this.#reader = reader;
		this.#events.open(this);
	}

	read(): E | null {
		if (this.#isEnded) return null;
		if (this.#use.pendingCheck !== null) {
			this.#awaitCheck(this.#use.pendingCheck);
			return null;
		}
		try {
			const event = this.#events.read();
			if (event !== null && !this.#use.hasExpired) return event;
			if (event !== null) this.#revoke();
			else if (this.#events.isEnded) void this.close();
			return null;
		} catch (error) {
			void this.close();
			throw error;
		}
	}

	onReadable(): void {
		if (!this.#isEnded) this.#reader?.onReadable();
	}

	/** The use was revoked, or its request has aborted. */
	onUseEnd(): void {
		if (this.#isEnded) return;
		void this.close();
		this.#reader?.onReadable();
	}

	close(): void | Promise<void> {
		this.#isEnded = true;
		const closed = this.#events.close();
		this.#use.end();
		return closed;
	}

	#revoke(): void {
		// Before the use revokes these events: the reader is not called while it reads.
		this.#isEnded = true;
		this.#use.revoke();
		void this.close();
	}

	#awaitCheck(check: Promise<unknown>): void {
		if (this.#isAwaitingCheck) return;
		this.#isAwaitingCheck = true;
		void check.then(() => {
			this.#isAwaitingCheck = false;
			this.onReadable();
		});
	}
}
