import { AppError, type Clock, elapsedMs, KeyedLock, LruCache } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import { ALLOW_ALL, MAX_ROBOTS_BYTES, parseRobots, type RobotsRules } from './robots-rules.ts';

/** RFC 9309, 2.4. */
const KEEP_MS = 24 * 3_600_000;
/** A file that could not be read is requested again after this time. */
const KEEP_FAILURE_MS = 60_000;
/** Files in memory: at most 500 KiB each, mostly one. */
const MAX_FILES = 200;
/** RFC 9309, 2.3.1.2. */
const MAX_REDIRECTS = 5;

interface Entry {
	until: number;
	/** The failure if the rules are unknown. */
	rules: RobotsRules | AppError;
}

export interface RobotsCacheOptions {
	network: Pick<Network, 'download'>;
	clock: Clock;
}

/** The rules of sites, by their origin. */
export class RobotsCache {
	readonly #network: Pick<Network, 'download'>;
	readonly #clock: Clock;
	readonly #entries = new LruCache<string, Entry>(MAX_FILES);
	readonly #locks = new KeyedLock();

	constructor({ network, clock }: RobotsCacheOptions) {
		this.#network = network;
		this.#clock = clock;
	}

	/**
	 * The rules for an address.
	 * @throws AppError `url_not_allowed` from the guard, `unreadable_file` while the rules are unknown: then the site must not be
	 * crawled (RFC 9309, 2.3.1.4)
	 */
	rulesFor(address: URL, signal: AbortSignal): Promise<RobotsRules> {
		const { origin } = address;
		return this.#locks.run(origin, async () => {
			let entry = this.#entries.get(origin);
			if (entry === undefined || entry.until <= elapsedMs(this.#clock)) {
				const rules = await this.#fetch(origin, signal);
				const keepMs = rules instanceof AppError ? KEEP_FAILURE_MS : KEEP_MS;
				entry = { until: elapsedMs(this.#clock) + keepMs, rules };
				this.#entries.set(origin, entry);
			}
			if (entry.rules instanceof AppError) throw entry.rules;
			return entry.rules;
		});
	}

	async #fetch(origin: string, signal: AbortSignal): Promise<RobotsRules | AppError> {
		const { host } = new URL(origin);
		try {
			await using file = await this.#network.download(`${origin}/robots.txt`, {
				signal,
				anyStatus: true,
				maxRedirects: MAX_REDIRECTS,
				// Only the beginning is read.
				maxWireBytes: Number.MAX_SAFE_INTEGER,
				maxDecodedBytes: Number.MAX_SAFE_INTEGER,
			});
			const { status } = file;
			if (status >= 500 || status === 429) return unknownRules(host, `It was answered with status ${status}.`);
			// Also a chain of redirects that does not end (RFC 9309, 2.3.1.2).
			if (status < 200 || status > 299) return ALLOW_ALL;
			return parseRobots(await textOf(file.body));
		} catch (error) {
			if (signal.aborted || !(error instanceof AppError) || error.code === 'unavailable') throw error;
			if (error.code === 'url_not_allowed') return error;
			return unknownRules(host, error.message);
		}
	}
}

function unknownRules(host: string, reason: string): AppError {
	return new AppError(
		'unreadable_file',
		`The robots.txt of ${host} could not be read, so its pages are not fetched. ${reason}`,
	);
}

/** The beginning of the file: rules beyond the limit are ignored. */
async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
	const pieces: Buffer[] = [];
	let size = 0;
	for await (const piece of body) {
		pieces.push(piece);
		size += piece.length;
		if (size >= MAX_ROBOTS_BYTES) break;
	}
	return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, MAX_ROBOTS_BYTES));
}
