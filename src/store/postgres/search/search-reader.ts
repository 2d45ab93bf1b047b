import { Client } from 'pg';
import { KeyedLock } from '../../../base/index.ts';
import type { SearchReader, SearchSnapshot } from '../../search/search-reader.ts';
import { connectionOptions, endOf } from '../connection.ts';
import { sqlOf } from '../sql.ts';
import { GenerationCache } from './generation-cache.ts';
import { PostgresSearchSnapshot } from './search-snapshot.ts';

/** The memory of the generations of one search worker: about 400,000 chunks of 200 words, with vectors of 256 dimensions. */
const MAX_BYTES = 512 * 1024 * 1024;

const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * Reads the index for searching and training, on its own connection. The generations that are searched stay in memory; each snapshot
 * reads what has changed in them. It connects with the first snapshot.
 */
export class PostgresSearchReader implements SearchReader {
	readonly #url: string;
	readonly #generations: GenerationCache;
	readonly #turns = new KeyedLock();
	#client: Client | null = null;

	/** @param url `postgres://…`, of a database with the current schema */
	constructor(url: string, { maxBytes = MAX_BYTES } = {}) {
		this.#url = url;
		this.#generations = new GenerationCache(maxBytes);
	}

	/** The ids of the generations in memory, the most recently used last. */
	get loadedGenerations(): string[] {
		return this.#generations.ids;
	}

	snapshot<T>(read: (index: SearchSnapshot) => Promise<T>): Promise<T> {
		return this.#turns.run('snapshot', async () => {
			const client = await this.#begin();
			try {
				const result = await read(new PostgresSearchSnapshot(sqlOf(client), this.#generations));
				await client.query('COMMIT');
				return result;
			} catch (error) {
				await client.query('ROLLBACK').catch(() => this.#drop(client));
				throw error;
			}
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const client = this.#client;
		this.#client = null;
		if (client !== null) await endOf(client);
	}

	/** Begins a transaction, on a new connection if the last was lost. */
	async #begin(): Promise<Client> {
		const open = this.#client;
		if (open !== null) {
			try {
				await open.query(BEGIN);
				return open;
			} catch {
				this.#drop(open);
			}
		}
		const client = new Client(connectionOptions(this.#url));
		client.on('error', () => this.#drop(client));
		try {
			await client.connect();
			await client.query(BEGIN);
		} catch (error) {
			this.#drop(client);
			throw error;
		}
		this.#client = client;
		return client;
	}

	#drop(client: Client): void {
		if (this.#client === client) this.#client = null;
		void client.end().catch(() => {});
	}
}
