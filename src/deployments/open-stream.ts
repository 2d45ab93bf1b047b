import { AppError, type Clock, type Log } from '../base/index.ts';
import type { DeploymentRecord } from '../store/index.ts';
import { noSuchDeployment, type VisibleDeployment } from './visible-deployment.ts';

/** A visit that was let in and is answered with an event stream. */
export interface StreamedVisit {
	/** The deployment as it was when the visit was let in. */
	deployment: DeploymentRecord;
	/** Whose it is: see `visitorKey`. */
	visitor: string;
	/** When the visitor's token is over (milliseconds since the epoch); null where the deployment asks for none. */
	until: number | null;
	/** The request's own: aborts when the client has gone. */
	signal: AbortSignal;
	/**
	 * Judges the visit by the deployment as it is now.
	 * @throws AppError where it would not be let in any more
	 */
	judge(deployment: VisibleDeployment): Promise<void>;
}

/** One event stream of a visitor, which goes on only while its visit would be let in. */
export class OpenStream {
	readonly #visit: StreamedVisit;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #ended: () => void;
	readonly #controller = new AbortController();
	readonly #leave = (): void => this.cut(this.#visit.signal.reason);
	#over = false;
	/** Resolves when nothing about the visit is being judged. */
	#judged: Promise<unknown> | null = null;

	constructor(visit: StreamedVisit, clock: Clock, log: Log, ended: () => void) {
		this.#visit = visit;
		this.#clock = clock;
		this.#log = log;
		this.#ended = ended;
	}

	/** Aborts when the visit would not be let in any more, or with its request. */
	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	/** When its token is over (milliseconds since the epoch). */
	get until(): number {
		return this.#visit.until ?? Number.POSITIVE_INFINITY;
	}

	/** Ends with its request from now on. */
	begin(): void {
		const { signal } = this.#visit;
		if (signal.aborted) this.#leave();
		else signal.addEventListener('abort', this.#leave, { once: true });
	}

	/** The same events, up to the first that the visit would not be shown if it asked now. */
	async *whileLetIn<E>(events: AsyncIterable<E>): AsyncGenerator<E, void, undefined> {
		for await (const event of events) {
			if (!(await this.#isLetIn())) return;
			yield event;
		}
	}

	/** Ends the stream where the visit would not be let in by this deployment. Until that is known nothing more is told. */
	judge(deployment: VisibleDeployment | Promise<VisibleDeployment>): void {
		const judged = Promise.all([this.#judged, this.#judge(deployment)]).then(() => {
			if (this.#judged === judged) this.#judged = null;
		});
		this.#judged = judged;
	}

	/** Ends the stream for reasons of ours, or of the client. */
	cut(reason?: unknown): void {
		this.end();
		this.#controller.abort(reason);
	}

	/** It is over: nobody need watch it any more, and its place is free. */
	end(): void {
		if (this.#over) return;
		this.#over = true;
		this.#visit.signal.removeEventListener('abort', this.#leave);
		this.#ended();
	}

	async #isLetIn(): Promise<boolean> {
		while (this.#judged !== null) await this.#judged;
		if (!this.#over && this.until <= this.#clock.now()) this.cut();
		return !this.#over;
	}

	/** Never rejects. */
	async #judge(deployment: VisibleDeployment | Promise<VisibleDeployment>): Promise<void> {
		try {
			const present = await deployment;
			if (present.record.status !== 'active') throw noSuchDeployment();
			await this.#visit.judge(present);
		} catch (error) {
			// Also where it could not be judged: what nobody can vouch for ends, and may come again.
			if (!(error instanceof AppError)) this.#log.error({ err: error }, 'an open stream could not be judged');
			this.cut();
		}
	}
}
