import { createHmac } from 'node:crypto';
import { LruCache } from '../base/index.ts';

/** How log lines name clients: by their address, by a keyed hash of it, or not at all. */
export type ClientNameFormat = 'plain' | 'hashed' | 'off';

const HASH_CHARACTERS = 16;
/** Addresses whose hash is cached. */
const CACHE_SIZE = 10_000;

/**
 * Names clients in log lines. A hash distinguishes addresses and cannot be reversed without the server's secret key.
 * Another key gives other names.
 */
export class ClientNames {
	readonly #format: ClientNameFormat;
	readonly #cache = new LruCache<string, string>(CACHE_SIZE);
	#key: Buffer | null = null;

	constructor(naming: ClientNameFormat) {
		this.#format = naming;
	}

	/** Sets the key of the hash. Until then hashed names are left out. */
	useKey(key: Buffer): void {
		this.#key = key;
	}

	/** Undefined where the settings leave the client out, and for an unknown address (empty). */
	nameOf(address: string): string | undefined {
		if (address === '') return undefined;
		if (this.#format === 'plain') return address;
		if (this.#format === 'off' || this.#key === null) return undefined;
		let name = this.#cache.get(address);
		if (name === undefined) {
			name = createHmac('sha256', this.#key).update(address).digest('hex').slice(0, HASH_CHARACTERS);
			this.#cache.set(address, name);
		}
		return name;
	}
}
