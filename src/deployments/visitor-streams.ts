import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
	type AbortableRequest,
	AppError,
	type Clock,
	type Log,
	type RevocableUse,
	RevocableUses,
} from '../base/index.ts';
import type { DeploymentRecord } from '../store/index.ts';
import { noSuchDeployment, type VisibleDeployment } from './visible-deployment.ts';

/** An admitted request of a visitor that is answered with an event stream. */
export interface StreamVisit {
	/** The deployment at the time of admission. */
	deployment: DeploymentRecord;
	/** The visitor: see `visitorKey`. */
	visitor: string;
	/** When the visitor's token expires (milliseconds since the epoch); null where the deployment requires none. */
	expiresAt: number | null;
	/** The stream ends when it aborts. */
	request: AbortableRequest;
	/**
	 * Checks the visit by the deployment as it is now.
	 * @throws AppError where it would no longer be admitted
	 */
	recheckAccess(deployment: VisibleDeployment): Promise<void>;
}

/** The event stream of a visit: it ends when the visit would no longer be admitted. */
export type VisitorStream = RevocableUse<StreamVisit>;

export interface VisitorStreamsOptions {
	clock: Clock;
	log: Log;
	/** Milliseconds after which a stream without events ends, at the latest, once its token has expired. */
	recheckIntervalMs?: number;
}

/**
 * Streams that one visitor may have open at once, per deployment. A tab needs one; but without tokens a visitor is an address,
 * and behind it may be a whole office.
 */
const MAX_STREAMS_PER_VISITOR = 100;
const RECHECK_INTERVAL_MS = 2_000;
/** Visits that are checked before other work of the process has its turn. Their streams withhold their events meanwhile. */
const RECHECKS_BEFORE_YIELD = 100;

/**
 * The event streams that visitors have open, up to a limit for each. They are checked again when their deployment changes, and end
 * when their token expires.
 */
export class VisitorStreams implements Disposable {
	readonly #log: Log;
	readonly #streams: RevocableUses<StreamVisit>;
	readonly #timer: NodeJS.Timeout;

	constructor({ clock, log, recheckIntervalMs = RECHECK_INTERVAL_MS }: VisitorStreamsOptions) {
		this.#log = log;
		this.#streams = new RevocableUses({ clock, concurrencyLimit: MAX_STREAMS_PER_VISITOR, limitSentence });
		this.#timer = setInterval(() => this.endExpired(), recheckIntervalMs);
		this.#timer.unref();
	}

	/** How many deployments and visitors have streams open. */
	get size(): { deployments: number; visitors: number } {
		const { grants, limitKeys } = this.#streams.size;
		return { deployments: grants, visitors: limitKeys };
	}

	/** The deployments that have streams open. */
	deploymentIds(): string[] {
		return this.#streams.grantIds();
	}

	/** Ends the streams of a deployment that does not exist any more. */
	revokeAll(deploymentId: string): void {
		for (const stream of this.#streams.of(deploymentId)) stream.revoke();
	}

	/**
	 * Counts and checks a stream from now on. It must be ended.
	 * @throws AppError `rate_limit_exceeded` when the visitor has too many open
	 */
	open(visit: StreamVisit): VisitorStream {
		const { deployment, visitor, expiresAt, request } = visit;
		const limitKey = `${deployment.id} ${visitor}`;
		return this.#streams.begin({ grantId: deployment.id, limitKey, context: visit, expiresAt, request });
	}

	/** Checks the streams of a deployment after a change, by the deployment as it is now. */
	recheckAll(deployment: VisibleDeployment): void {
		let afterYield: VisibleDeployment | Promise<VisibleDeployment> = deployment;
		let rechecked = 0;
		for (const stream of this.#streams.of(deployment.record.id)) {
			if (++rechecked % RECHECKS_BEFORE_YIELD === 0)
				afterYield = Promise.resolve(afterYield).then((it) => yieldToEventLoop(it));
			this.recheck(stream, afterYield);
		}
	}

	/** Ends a stream unless the deployment still admits its visit. Until that is known its events are withheld. */
	recheck(stream: VisitorStream, deployment: VisibleDeployment | Promise<VisibleDeployment>): void {
		stream.withholdUntil(this.#revokeUnlessAdmitted(stream, deployment));
	}

	/** Ends the streams whose tokens have expired. */
	endExpired(): void {
		this.#streams.endExpired();
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}

	/** Never rejects. */
	async #revokeUnlessAdmitted(
		stream: VisitorStream,
		deployment: VisibleDeployment | Promise<VisibleDeployment>,
	): Promise<void> {
		try {
			const current = await deployment;
			if (current.record.status !== 'active') throw noSuchDeployment();
			await stream.context.recheckAccess(current);
		} catch (error) {
			// A check that failed ends the stream too. The visitor's next request is checked again.
			if (!(error instanceof AppError)) this.#log.error({ err: error }, 'an open stream could not be checked');
			stream.revoke();
		}
	}
}

function limitSentence(limit: number): string {
	return `At most ${limit} event streams may be open at once.`;
}
