import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { AppError, type Clock, type Log } from '../base/index.ts';
import { RevocableStream, type StreamVisit } from './revocable-stream.ts';
import type { VisibleDeployment } from './visible-deployment.ts';

export interface VisitorStreamsOptions {
	clock: Clock;
	log: Log;
	/** Milliseconds after which a stream in which nothing happens ends, at the latest, once its token is over. */
	recheckIntervalMs?: number;
}

/**
 * Streams that one visitor may have open at once, per deployment. One is enough for a tab; but without tokens a visitor is an
 * address, and behind it may be a whole office.
 */
const MAX_STREAMS_PER_VISITOR = 100;
/** Nobody knows when a tab will be closed. */
const RETRY_SECONDS = 10;
const RECHECK_INTERVAL_MS = 2_000;
/** Tokens that are verified anew before other work of the process gets a turn; the streams that wait tell nothing meanwhile. */
const RECHECKS_BEFORE_YIELD = 100;

/**
 * The event streams that visitors have open: so many each at most, and each only while its visit would be let in. They are
 * judged anew when their deployment changes, and end with their token. It holds as many entries as there are open streams.
 */
export class VisitorStreams implements Disposable {
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #byDeployment = new Map<string, Set<RevocableStream>>();
	readonly #byVisitor = new Map<string, number>();
	/** No token is over before this. Where streams have ended since, it may be too early, never too late. */
	#earliestExpiry = Number.POSITIVE_INFINITY;
	readonly #timer: NodeJS.Timeout;

	constructor({ clock, log, recheckIntervalMs = RECHECK_INTERVAL_MS }: VisitorStreamsOptions) {
		this.#clock = clock;
		this.#log = log;
		this.#timer = setInterval(() => this.endExpired(), recheckIntervalMs);
		this.#timer.unref();
	}

	/** What is remembered: deployments and visitors that have streams open. */
	get size(): { deployments: number; visitors: number } {
		return { deployments: this.#byDeployment.size, visitors: this.#byVisitor.size };
	}

	/**
	 * Counts and watches a stream from now on. It must be ended.
	 * @throws AppError `rate_limit_exceeded` where the visitor has as many open as one may have
	 */
	open(visit: StreamVisit): RevocableStream {
		const { id } = visit.deployment;
		const visitor = `${id} ${visit.visitor}`;
		const count = this.#byVisitor.get(visitor) ?? 0;
		if (count >= MAX_STREAMS_PER_VISITOR) {
			const sentence = `At most ${MAX_STREAMS_PER_VISITOR} event streams may be open at once. Try again in ${RETRY_SECONDS} seconds.`;
			throw new AppError('rate_limit_exceeded', sentence, { retry_after: RETRY_SECONDS });
		}
		this.#byVisitor.set(visitor, count + 1);
		const streams = this.#byDeployment.get(id) ?? new Set();
		this.#byDeployment.set(id, streams);
		const stream = new RevocableStream(visit, this.#clock, this.#log, () => {
			streams.delete(stream);
			if (streams.size === 0 && this.#byDeployment.get(id) === streams) this.#byDeployment.delete(id);
			const others = (this.#byVisitor.get(visitor) ?? 1) - 1;
			if (others === 0) this.#byVisitor.delete(visitor);
			else this.#byVisitor.set(visitor, others);
		});
		streams.add(stream);
		if (visit.expiresAt !== null) this.#earliestExpiry = Math.min(this.#earliestExpiry, visit.expiresAt);
		stream.watchRequest();
		return stream;
	}

	/** Judges the streams of a deployment by what it is now. To be called when it has changed. */
	recheck(deployment: VisibleDeployment): void {
		let afterYield: VisibleDeployment | Promise<VisibleDeployment> = deployment;
		let rechecked = 0;
		for (const stream of this.#byDeployment.get(deployment.record.id) ?? []) {
			if (++rechecked % RECHECKS_BEFORE_YIELD === 0)
				afterYield = Promise.resolve(afterYield).then((it) => yieldToEventLoop(it));
			stream.recheck(afterYield);
		}
	}

	/** Ends the streams whose tokens are over. Costs nothing until the first one is. */
	endExpired(): void {
		const now = this.#clock.now();
		if (now < this.#earliestExpiry) return;
		this.#earliestExpiry = Number.POSITIVE_INFINITY;
		for (const streams of this.#byDeployment.values()) {
			for (const stream of [...streams]) {
				if (stream.expiresAt > now) this.#earliestExpiry = Math.min(this.#earliestExpiry, stream.expiresAt);
				else stream.close();
			}
		}
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}
}
