import assert from 'node:assert/strict';
import type { TestApp } from '../../support/app.ts';

/** An event as `GET /api/v1/events` lists it. */
export interface LoggedEvent {
	id: string;
	type: string;
	// biome-ignore lint/suspicious/noExplicitAny: tests look into events of every kind
	data: any;
}

/** The events of a workspace, read on from where they were read to before. */
export class EventLog {
	readonly #app: TestApp;
	readonly #read: LoggedEvent[] = [];
	#cursor: string | null = null;
	#reading: Promise<void> = Promise.resolve();

	constructor(app: TestApp) {
		this.#app = app;
	}

	/** Those that tell of a conversation, in order. */
	async of(conversation: string): Promise<LoggedEvent[]> {
		this.#reading = this.#reading.then(() => this.#readOn());
		await this.#reading;
		return this.#read.filter(({ data }) => data.id === conversation || data.conversation_id === conversation);
	}

	async #readOn(): Promise<void> {
		for (;;) {
			const after: string = this.#cursor === null ? '' : `&cursor=${this.#cursor}`;
			const { status, body } = await this.#app.call('GET', `/api/v1/events?limit=100${after}`);
			assert.equal(status, 200, JSON.stringify(body));
			this.#cursor = body.next_cursor;
			this.#read.push(...body.data);
			if (body.data.length === 0) return;
		}
	}
}
