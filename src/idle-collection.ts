import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const CHECK_MS = 10_000;
/** Below this share of the time between two checks the event loop counts as idle. Counting a long load's events takes about 0.03. */
const IDLE_UTILIZATION = 0.05;
/** Idle checks in succession before a collection: idle actors are dropped after half a minute. */
const IDLE_CHECKS = 4;
/** Growth of the resident memory, in bytes, that is worth a collection. */
const MIN_GROWTH = 24 * 1024 * 1024;

/** Passes of one collection, and the memory (bytes) that a pass must have returned for another one. */
const MIN_PASSES = 3;
const MAX_PASSES = 5;
const MIN_FREED = 4 * 1024 * 1024;
/** V8 returns the pages of a pass in other threads, this long (ms) after it. */
const RETURN_MS = 500;

/** What the collector reads and does; tests replace it. */
export interface CollectorEnvironment {
	/** The share of the time since the last call in which the event loop was busy, 0..1. */
	utilization(): number;
	/** Resident memory of the process in bytes. */
	residentMemory(): number;
	/** Collects all garbage. */
	collect(): Promise<void>;
}

/**
 * Returns memory to the system after a load. V8 collects a heap that has grown only while it allocates, so a server that has become
 * idle would keep the memory of its busiest minute. The collection takes some tens of milliseconds a pass; it happens only after 40 idle
 * seconds, and once for each growth.
 */
export class IdleCollector implements Disposable {
	readonly #environment: CollectorEnvironment;
	readonly #timer: NodeJS.Timeout;
	#baseline: number;
	#idleChecks = 0;

	constructor(environment: CollectorEnvironment = processEnvironment()) {
		this.#environment = environment;
		this.#baseline = environment.residentMemory();
		this.#timer = setInterval(() => void this.check(), CHECK_MS);
		this.#timer.unref();
	}

	/** Collects garbage if the process is idle and has grown. Never rejects. */
	async check(): Promise<void> {
		const isIdle = this.#environment.utilization() < IDLE_UTILIZATION;
		this.#idleChecks = isIdle ? this.#idleChecks + 1 : 0;
		if (this.#idleChecks < IDLE_CHECKS) return;
		if (this.#environment.residentMemory() - this.#baseline < MIN_GROWTH) return;
		this.#idleChecks = 0;
		await this.collect();
	}

	/** Collects garbage now. Memory that remains in use is no reason for another collection. */
	async collect(): Promise<void> {
		await this.#environment.collect();
		this.#baseline = this.#environment.residentMemory();
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}
}

function processEnvironment(): CollectorEnvironment {
	let since = performance.eventLoopUtilization();
	// V8's collection is a function of contexts that are made while this flag is set.
	setFlagsFromString('--expose-gc');
	const gc: (options: object) => Promise<void> = runInNewContext('gc');
	setFlagsFromString('--no-expose-gc');
	return {
		utilization() {
			const { utilization } = performance.eventLoopUtilization(since);
			since = performance.eventLoopUtilization();
			return utilization;
		},
		residentMemory: () => process.memoryUsage.rss(),
		async collect() {
			// One collection frees what is unused, and moves only a part of the rest together, so that its pages become free.
			for (let pass = 0, freed = Number.POSITIVE_INFINITY; pass < MAX_PASSES; pass++) {
				if (pass >= MIN_PASSES && freed < MIN_FREED) break;
				const before = process.memoryUsage.rss();
				await gc({ type: 'major', execution: 'async' });
				await delay(RETURN_MS);
				freed = before - process.memoryUsage.rss();
			}
		},
	};
}
