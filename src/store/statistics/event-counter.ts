import { type Addition, additionsOf, type LoggedEvent, unansweredReply } from './additions.ts';
import { bucketsOf, type FigureOwner, Ledger } from './ledger.ts';
import { isKeptByRebuild, type StatisticsState } from './state.ts';

/** A reply that says that there is no answer. */
export interface UnansweredReply extends FigureOwner {
	message_id: string;
	conversation_id: string;
}

/** Adds up what events say. A store writes the result. */
export class EventCounter {
	readonly ledger = new Ledger();
	/** When each document was last cited, by its id (ms since the epoch). */
	readonly citations = new Map<string, number>();
	readonly unanswered: UnansweredReply[] = [];
	readonly #state: StatisticsState;

	constructor(state: StatisticsState) {
		this.#state = state;
	}

	/** Counts an event of the log. */
	add(event: LoggedEvent, owner: FigureOwner): void {
		for (const addition of additionsOf(event)) {
			for (const bucket of bucketsOf(addition)) {
				if (isKeptByRebuild(this.#state, event.seq, bucket)) continue;
				this.ledger.add(owner, bucket, addition, 'logged', addition.value);
			}
			if (addition.figure === 'cited') this.#addCitation(addition);
		}
		const message_id = unansweredReply(event);
		if (message_id !== null) this.unanswered.push({ ...ownerOf(owner), message_id, conversation_id: event.subject });
	}

	/**
	 * Moves the figures of an event of a conversation that is about to be erased to those of erased conversations, where a rebuild from
	 * the log leaves them. An event that was not counted yet is counted there.
	 */
	addErased(event: LoggedEvent, owner: FigureOwner): void {
		for (const addition of additionsOf(event)) {
			for (const bucket of bucketsOf(addition)) {
				const isLogged = event.seq <= this.#state.seq || isKeptByRebuild(this.#state, event.seq, bucket);
				if (isLogged) this.ledger.add(owner, bucket, addition, 'logged', -addition.value);
				this.ledger.add(owner, bucket, addition, 'erased', addition.value);
			}
		}
	}

	#addCitation({ key, at }: Addition): void {
		this.citations.set(key, Math.max(at, this.citations.get(key) ?? at));
	}
}

function ownerOf({ workspace_id, deployment_id, assistant_id }: FigureOwner): FigureOwner {
	return { workspace_id, deployment_id, assistant_id };
}
