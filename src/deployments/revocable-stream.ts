import { AppError, type Clock, type Log } from '../base/index.ts';
import type { DeploymentRecord } from '../store/index.ts';
import { noSuchDeployment, type VisibleDeployment } from './visible-deployment.ts';

/** A visit that was let in and is answered with an event stream. */
export interface StreamVisit {
	/** The deployment as it was when the visit was let in. */
	deployment: DeploymentRecord;
	/** Whose it is: see `visitorKey`. */
	visitor: string;
	/** When the visitor's token is over (milliseconds since the epoch); null where the deployment asks for none. */
	expiresAt: number | null;
	/** The request's own: aborts when the client has gone. */
	signal: AbortSignal;
	/**
	 * Judges the visit by the deployment as it is now.
	 * @throws AppError where it would not be let in any more
	 */
	recheckAccess(deployment: VisibleDeployment): Promise<void>;
}

/** One event stream of a visitor, which goes on only while its visit would be let in. */
export class RevocableStream {
	readonly #visit: StreamVisit;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #onEnd: () => void;
	readonly #controller = new AbortController();
	readonly #onRequestAborted = (): void => this.close(this.#visit.signal.reason);
	#isEnded = false;
	/** Resolves when nothing about the visit is being judged. */
	#pendingRecheck: Promise<unknown> | null = null;

	constructor(visit: StreamVisit, clock: Clock, log: Log, onEnd: () => void) {
		this.#visit = visit;
		this.#clock = clock;
		this.#log = log;
		this.#onEnd = onEnd;
	}

	/** Aborts when the visit would not be let in any more, or with its request. */
	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	/** When its token is over (milliseconds since the epoch). */
	get expiresAt(): number {
		return this.#visit.expiresAt ?? Number.POSITIVE_INFINITY;
	}

	/** Ends with its request from now on. */
	watchRequest(): void {
		const { signal } = this.#visit;
		if (signal.aborted) this.#onRequestAborted();
		else signal.addEventListener('abort', this.#onRequestAborted, { once: true });
	}

	/** The same events, up to the first that the visit would not be shown if it asked now. */
	async *untilRevoked<E>(events: AsyncIterable<E>): AsyncGenerator<E, void, undefined> {
		for await (const event of events) {
			if (!(await this.#hasAccess())) return;
			yield event;
		}
	}

	/** Ends the stream where the visit would not be let in by this deployment. Until that is known nothing more is told. */
	recheck(deployment: VisibleDeployment | Promise<VisibleDeployment>): void {
		const pendingRecheck = Promise.all([this.#pendingRecheck, this.#recheckAccess(deployment)]).then(() => {
			if (this.#pendingRecheck === pendingRecheck) this.#pendingRecheck = null;
		});
		this.#pendingRecheck = pendingRecheck;
	}

	/** Ends the stream for reasons of ours, or of the client. */
	close(reason?: unknown): void {
		this.end();
		this.#controller.abort(reason);
	}

	/** It is over: nobody need watch it any more, and its place is free. */
	end(): void {
		if (this.#isEnded) return;
		this.#isEnded = true;
		this.#visit.signal.removeEventListener('abort', this.#onRequestAborted);
		this.#onEnd();
	}

	async #hasAccess(): Promise<boolean> {
		while (this.#pendingRecheck !== null) await this.#pendingRecheck;
		if (!this.#isEnded && this.expiresAt <= this.#clock.now()) this.close();
		return !this.#isEnded;
	}

	/** Never rejects. */
	async #recheckAccess(deployment: VisibleDeployment | Promise<VisibleDeployment>): Promise<void> {
		try {
			const current = await deployment;
			if (current.record.status !== 'active') throw noSuchDeployment();
			await this.#visit.recheckAccess(current);
		} catch (error) {
			// Also where it could not be judged: what nobody can vouch for ends, and may come again.
			if (!(error instanceof AppError)) this.#log.error({ err: error }, 'an open stream could not be judged');
			this.close();
		}
	}
}
