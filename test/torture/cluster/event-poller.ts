import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../api-client.ts';

const PAGE_SIZE = 100;
const PAUSE_MS = 100;

/** A client that reads the log of events by cursor, page after page, as integrations do. */
export class EventPoller {
	readonly #client: ApiClient;
	readonly #stopped = new AbortController();
	/** The ids of the events that it has got, in their order. */
	readonly #polled: string[] = [];
	readonly #work: Promise<void>;
	#cursor = '';

	constructor(client: ApiClient) {
		this.#client = client;
		this.#work = this.#run();
		this.#work.catch(() => {});
	}

	/** Events that were polled so far. */
	get count(): number {
		return this.#polled.length;
	}

	/**
	 * Reads to the end of the log and compares what was polled with the log as a new client reads it. Events of erased conversations are no
	 * longer there.
	 * @returns sentences; empty: no event was skipped or got twice, and all came in the order of the log
	 */
	async stop(): Promise<string[]> {
		this.#stopped.abort();
		await this.#work;
		const log = await wholeLog(this.#client);
		// Whatever the log has by now: the servers still index documents.
		while ((await this.#poll()) === PAGE_SIZE);
		const polled = new Set(this.#polled);
		const known = new Set(log);
		const skipped = log.filter((id) => !polled.has(id));
		const faults: string[] = [];
		if (skipped.length > 0) faults.push(`A poller of the log has skipped ${skipped.length} events: ${skipped}.`);
		if (polled.size < this.#polled.length) faults.push('A poller of the log has got an event twice.');
		else if (this.#polled.filter((id) => known.has(id)).join() !== log.filter((id) => polled.has(id)).join())
			faults.push('A poller of the log has got events in another order.');
		return faults;
	}

	async #run(): Promise<void> {
		while (!this.#stopped.signal.aborted) {
			// Where no page comes, the same cursor is used again.
			const count = await this.#poll().catch(() => 0);
			if (count < PAGE_SIZE) await sleep(PAUSE_MS);
		}
	}

	/** @returns the number of events of the page */
	async #poll(): Promise<number> {
		const { ids, cursor } = await readPage(this.#client, this.#cursor);
		this.#polled.push(...ids);
		this.#cursor = cursor;
		return ids.length;
	}
}

async function wholeLog(client: ApiClient): Promise<string[]> {
	const found: string[] = [];
	for (let cursor = ''; ; ) {
		const page = await readPage(client, cursor);
		found.push(...page.ids);
		cursor = page.cursor;
		if (page.ids.length < PAGE_SIZE) return found;
	}
}

async function readPage(client: ApiClient, cursor: string): Promise<{ ids: string[]; cursor: string }> {
	const path = `/api/v1/events?limit=${PAGE_SIZE}${cursor && `&cursor=${cursor}`}`;
	const { status, body } = await client.call('GET', path);
	if (status !== 200) throw new Error(`GET ${path} is answered with ${status}: ${JSON.stringify(body)}`);
	return { ids: body.data.map(({ id }: { id: string }) => id), cursor: body.next_cursor };
}
