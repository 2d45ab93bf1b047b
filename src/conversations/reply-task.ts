import { MailboxFullError, type SelfRef } from '../actors/index.ts';
import { AppError, type Clock, type Deferred, deferred, type Span } from '../base/index.ts';
import type { ToolCall } from '../contract/index.ts';
import { type ReplyDependencies, STOPPED, writeReply } from './reply.ts';
import type { UsageLimitError } from './reply-cost.ts';
import { outcomeOf } from './reply-outcome.ts';
import { progressFrom, type ReplyListener, type ReplyProgress } from './reply-progress.ts';
import type { ReplyRound } from './reply-rounds.ts';
import { ReplyTimer } from './reply-timer.ts';
import { ReportQueue } from './report-queue.ts';
import type { ReplyOutcome, Turn } from './turn.ts';
import type { ReplyUsage } from './turn-state.ts';

/** What happens to a reply, as its actor gets it. */
export type ReplyReport =
	| { type: 'appendText'; replyId: string; text: string }
	| { type: 'beginRound'; replyId: string; round: ReplyRound; used: ReplyUsage }
	| { type: 'anotherCall'; replyId: string; used: ReplyUsage }
	| { type: 'endCall'; replyId: string; call: ToolCall }
	| { type: 'endReply'; replyId: string; outcome: ReplyOutcome };

export interface ReplyTaskDependencies extends ReplyDependencies {
	/** Milliseconds that a reply may take. */
	replyTimeoutMs: number;
	clock: Clock;
}

type Reporter = Pick<SelfRef<ReplyReport, unknown>, 'tell' | 'waitForCapacity'>;

/** The writing of one reply. It runs beside the mailbox of its actor and reports to it. */
export class ReplyTask {
	readonly #replyId: string;
	readonly #abortController = new AbortController();
	readonly #progress: ReplyProgress;
	readonly #reports: ReportQueue<ReplyReport>;
	#roundCommitted: Deferred<void> | null = null;

	/**
	 * @param committed the commit of the turn, if it is still in flight: the model is asked meanwhile, and every report waits for it
	 * @param span of the reply; its end is the actor's
	 */
	constructor(
		deps: ReplyTaskDependencies,
		actor: Reporter,
		turn: Turn,
		{ committed, span }: { committed: Promise<unknown> | undefined; span: Span },
	) {
		this.#replyId = turn.reply.id;
		this.#progress = progressFrom(turn.rounds, new ReplyTimer(deps.clock));
		this.#reports = new ReportQueue(
			(report) => tellUnlessFull(actor, report),
			() => actor.waitForCapacity(),
		);
		if (committed !== undefined) this.#reports.holdUntil(committed);
		void this.#write(deps, turn, span);
	}

	/** Ends the reply with the text so far. */
	stop(): void {
		this.#abortController.abort(STOPPED);
	}

	/** Ends the reply. Its actor ignores what it still reports. */
	abort(reason: Error): void {
		this.#abortController.abort(reason);
	}

	/** The reply as it would end now. */
	stoppedOutcome(): ReplyOutcome {
		return outcomeOf(this.#progress, 'stopped');
	}

	/** The round that was reported is on disk: its calls may be made, and the model may be asked again. */
	confirmRound(): void {
		this.#roundCommitted?.resolve();
	}

	/** A budget does not allow the round that was reported. */
	refuseRound(error: UsageLimitError): void {
		this.#roundCommitted?.reject(error);
	}

	async #write(deps: ReplyTaskDependencies, turn: Turn, span: Span): Promise<void> {
		const timer = setTimeout(() => this.abort(replyTimeout()), deps.replyTimeoutMs);
		const listener = this.#listener(turn);
		if (this.#progress.text !== '') listener.text(this.#progress.text);
		const { signal } = this.#abortController;
		const outcome = await writeReply(deps, turn, { progress: this.#progress, listener, signal, span });
		clearTimeout(timer);
		this.#reports.add({ type: 'endReply', replyId: this.#replyId, outcome });
	}

	#listener({ billing }: Turn): ReplyListener {
		const replyId = this.#replyId;
		const reportRound = (report: Extract<ReplyReport, { used: ReplyUsage }>): Promise<void> => {
			const committed = deferred<void>();
			this.#roundCommitted = committed;
			this.#reports.add(report);
			return committed.promise;
		};
		return {
			text: (text) => {
				this.#progress.timer?.recordText();
				this.#reports.addText(text, (joined) => ({ type: 'appendText', replyId, text: joined }));
			},
			round: (round, used) =>
				reportRound({ type: 'beginRound', replyId, round: { ...round, calls: [...round.calls] }, used }),
			anotherCall: async (used) => {
				if (billing.reserved !== null) await reportRound({ type: 'anotherCall', replyId, used });
			},
			toolCall: (call) => this.#reports.add({ type: 'endCall', replyId, call }),
		};
	}
}

function replyTimeout(): AppError {
	return new AppError('model_error', 'The model took too long to answer.');
}

/** Reports to the actor; false while its mailbox is full. */
function tellUnlessFull(actor: Reporter, report: ReplyReport): boolean {
	try {
		actor.tell(report);
		return true;
	} catch (error) {
		if (error instanceof MailboxFullError) return false;
		throw error;
	}
}
