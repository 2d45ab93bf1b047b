import pg from 'pg';
import { sleep } from '../../base/index.ts';
import { connectionOptions, endOf } from './connection.ts';
import type { Sql } from './sql.ts';

const RECONNECT_MS = 1_000;
/** Between two checks of the connection: after a silent cut it delivers nothing (ms). */
const CHECK_MS = 5_000;
const CHECK_TIMEOUT_MS = 3_000;

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
		await Promise.all([this.#client && endOf(this.#client), this.#running]);
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
		const client = new pg.Client({ ...connectionOptions(this.#url), query_timeout: CHECK_TIMEOUT_MS });
		this.#client = client;
		const ended = new Promise<void>((resolve) => client.once('end', resolve));
		client.on('error', () => {});
		client.on('notification', ({ channel, payload = '' }) => this.#receive(channel, payload));
		try {
			// A client that is ended while it connects neither connects nor fails.
			await Promise.race([client.connect(), ended.then(() => Promise.reject(new Error('The connection has ended.')))]);
			for (const channel of this.#listeners.keys()) await client.query(`LISTEN ${channel}`);
			this.#connectedAt = performance.now();
			while (!this.#closing.signal.aborted) {
				const hasEnded = await Promise.race([ended.then(() => true), sleep(CHECK_MS, this.#closing.signal)]);
				if (hasEnded) break;
				await client.query('SELECT 1');
			}
		} catch {
			// The next attempt follows.
		} finally {
			this.#connectedAt = null;
			await endOf(client);
		}
	}

	#receive(channel: string, payload: string): void {
		const end = payload.indexOf(' ');
		if (payload.slice(0, end) !== this.#nodeId) this.#listeners.get(channel)?.(payload.slice(end + 1));
	}
}
