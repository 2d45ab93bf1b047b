import pg from 'pg';
import { sleep, withDeadline } from '../../base/index.ts';
import { connectionOptions } from './connection.ts';
import type { Sql } from './sql.ts';

const RECONNECT_MS = 1_000;
/** A connection that was cut off does not confirm its end (ms). */
const CLOSE_MS = 2_000;

export interface NotificationsOptions {
	sql: Sql;
	url: string;
	/** Its own notifications are ignored. */
	nodeId: string;
}

/** Notifications between nodes, on a connection of their own. What is sent while it is interrupted is lost. */
export class Notifications implements AsyncDisposable {
	readonly #sql: Sql;
	readonly #url: string;
	readonly #nodeId: string;
	readonly #listeners = new Map<string, (text: string) => void>();
	readonly #closing = new AbortController();
	#client: pg.Client | null = null;
	#running: Promise<void> | null = null;
	/** Since when this node listens, in monotonic time; null: it does not. */
	#connectedAt: number | null = null;

	constructor({ sql, url, nodeId }: NotificationsOptions) {
		this.#sql = sql;
		this.#url = url;
		this.#nodeId = nodeId;
	}

	/** For how long no notification was missed (ms); 0 while there is no connection. */
	get connectedMs(): number {
		return this.#connectedAt === null ? 0 : performance.now() - this.#connectedAt;
	}

	/** Calls the listener with the texts of other nodes on a channel. Call it before `start`. */
	on(channel: string, listener: (text: string) => void): void {
		this.#listeners.set(channel, listener);
	}

	start(): void {
		this.#running ??= this.#run();
	}

	/** Sends texts of at most 7,900 bytes to the other nodes. @throws when the database does not answer */
	async send(channel: string, texts: readonly string[]): Promise<void> {
		await this.#sql.run('SELECT pg_notify(@channel, text) FROM unnest(@texts::text[]) AS text', {
			channel,
			texts: texts.map((text) => `${this.#nodeId} ${text}`),
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#closing.abort();
		const ended = Promise.all([this.#client?.end(), this.#running]);
		await withDeadline(ended, CLOSE_MS, () => new Error('The connection does not end.')).catch(() => {});
	}

	async #run(): Promise<void> {
		const { signal } = this.#closing;
		while (!signal.aborted) {
			await this.#listen();
			await sleep(RECONNECT_MS, signal);
		}
	}

	/** Resolves when the connection has ended. */
	async #listen(): Promise<void> {
		const client = new pg.Client({ ...connectionOptions(this.#url), query_timeout: 0 });
		this.#client = client;
		const ended = new Promise<void>((resolve) => client.once('end', resolve));
		client.on('error', () => {});
		client.on('notification', ({ channel, payload = '' }) => this.#receive(channel, payload));
		try {
			await client.connect();
			for (const channel of this.#listeners.keys()) await client.query(`LISTEN ${channel}`);
			this.#connectedAt = performance.now();
			if (!this.#closing.signal.aborted) await ended;
		} catch {
			// The next attempt follows.
		} finally {
			this.#connectedAt = null;
			await client.end().catch(() => {});
		}
	}

	#receive(channel: string, payload: string): void {
		const end = payload.indexOf(' ');
		if (payload.slice(0, end) !== this.#nodeId) this.#listeners.get(channel)?.(payload.slice(end + 1));
	}
}
