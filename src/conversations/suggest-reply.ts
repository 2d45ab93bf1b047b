import { AppError, anySignal, type Clock, NO_SPAN, SlidingWindowLimiter } from '../base/index.ts';
import type { Citation, Usage } from '../contract/index.ts';
import type { Budgets } from '../costs/index.ts';
import { type ConversationRecord, requireCommitted, type Store } from '../store/index.ts';
import { conversationNotFound } from './not-found.ts';
import { presentCitation } from './present.ts';
import { type ReplyDependencies, writeReply } from './reply.ts';
import { chargeFor, spenderOf, UsageLimitError } from './reply-cost.ts';
import { progressFrom, type ReplyListener } from './reply-progress.ts';
import { emptyMessage, type Turn } from './turn.ts';
import { withinBudget } from './within-budget.ts';

/** A reply that a person may send. It is not stored. */
export interface SuggestedReply {
	content: string;
	citations: Citation[];
	model: string;
	usage: Usage | null;
	/** In micros of the currency; null if it is not known. */
	cost_micros: number | null;
}

export interface SuggestionRequest {
	workspaceId: string;
	/** Who asks: the suggestions of each are limited. */
	personId: string;
	/** Aborts when the client leaves. */
	signal: AbortSignal;
}

export interface SuggestionsOptions extends Omit<ReplyDependencies, 'store'> {
	store: Pick<Store, 'commit' | 'conversations' | 'get' | 'list'>;
	budgets: Budgets;
	clock: Clock;
}

const DEADLINE_MS = 45_000;
const PER_MINUTE = 60;
const MAX_PEOPLE = 10_000;
/** Suggestions that are written at once. Replies to visitors have no such limit. */
const MAX_CONCURRENT = 16;
/** Messages among which the last one of the visitor is looked for. */
const MAX_MESSAGES_BACK = 100;

/** A suggestion has no followers while it is written, and without tools it has no rounds. */
const SILENT: ReplyListener = { text() {}, round: async () => {}, anotherCall: async () => {}, toolCall() {} };

/** Writes replies that people may send in place of the model. */
export class Suggestions {
	readonly #deps: SuggestionsOptions;
	readonly #limiter: SlidingWindowLimiter;
	#running = 0;

	constructor(deps: SuggestionsOptions) {
		this.#deps = deps;
		this.#limiter = new SlidingWindowLimiter(deps.clock, 60_000, MAX_PEOPLE);
	}

	/**
	 * The reply that the assistant would write to the last message of the visitor, with the same search and model, and without its
	 * tools: a suggestion must not change anything.
	 * @throws AppError `not_found`, `invalid_request` where the visitor has written nothing, `rate_limit_exceeded`,
	 * `usage_limit_reached`, `model_error`
	 */
	async suggest(id: string, { workspaceId, personId, signal }: SuggestionRequest): Promise<SuggestedReply> {
		const conversation = await this.#deps.store.get('conversations', id);
		if (conversation?.workspace_id !== workspaceId) throw conversationNotFound();
		const question = await this.#turnOf(conversation);
		this.#requireCapacity(personId);
		this.#running++;
		try {
			const turn = await this.#reserve(question);
			const { outcome, cost_micros } = await this.#write(turn, signal);
			if (outcome.error) throw new AppError('model_error', outcome.error.message);
			const { content, citations: cited, usage } = outcome;
			const citations = cited.map(presentCitation);
			return { content, citations, model: turn.reply.model as string, usage, cost_micros };
		} finally {
			this.#running--;
		}
	}

	async #turnOf(record: ConversationRecord): Promise<Turn> {
		const { store, clock } = this.#deps;
		const where = { conversation_id: record.id };
		const latest = await store.list('messages', { where, order: 'desc', limit: MAX_MESSAGES_BACK });
		const question = latest.find(({ role }) => role === 'user');
		if (!question)
			throw new AppError('invalid_request', 'The visitor has written nothing to which a reply could be suggested.');
		const assistant = await store.get('assistants', record.assistant_id);
		if (!assistant) throw new AppError('model_error', 'The assistant of this conversation does not exist any more.');
		// A suggestion of a person does not say that a person was asked.
		// The visitor did not ask for it, so it is not charged to the visitor.
		const conversation = { ...record, requested_person_at: null, visitor_id: null };
		const reply = {
			...emptyMessage(conversation, 'assistant', record.message_count + 1, clock.now()),
			author: { type: 'model' as const, name: null },
			status: 'in_progress' as const,
			model: assistant.model,
		};
		const billing = { price: this.#deps.models.priceOf(assistant.model), reserved: null };
		return { conversation, question, reply, rounds: [], billing };
	}

	async #write(turn: Turn, signal: AbortSignal) {
		const deadline = AbortSignal.timeout(DEADLINE_MS);
		const deps = { ...this.#deps, tools: { functionsOf: async () => [] } };
		const ends = anySignal(signal, deadline);
		const outcome = await writeReply(deps, turn, {
			progress: progressFrom([]),
			listener: SILENT,
			signal: ends,
			span: NO_SPAN,
		});
		const { cost: cost_micros, writes } = chargeFor(turn, outcome);
		// If the process ends before, the next one settles the reservation.
		if (writes.length > 0) requireCommitted(await this.#deps.store.commit({ write: writes }));
		const { reserved } = turn.billing;
		if (reserved !== null) void this.#deps.budgets.report(spenderOf(turn), reserved.day);
		if (deadline.aborted && outcome.error) throw new AppError('model_error', 'The model took too long to answer.');
		return { outcome, cost_micros };
	}

	/** Reserves what the suggestion may cost. @returns the turn with the model that may write it */
	#reserve(turn: Turn): Promise<Turn> {
		const { clock, models, store } = this.#deps;
		const now = clock.now();
		return withinBudget(this.#deps, spenderOf(turn), now, async (model, reserve) => {
			const billing = { price: models.priceOf(model), reserved: null };
			const admitted = { ...turn, reply: { ...turn.reply, model }, billing };
			const { commit, turn: reserved } = await reserve({ commit: {}, turn: admitted });
			if (reserved.billing.reserved === null) return reserved;
			const outcome = await store.commit(commit);
			if (outcome.outcome === 'over_budget') throw new UsageLimitError(outcome.exceeded);
			requireCommitted(outcome);
			return reserved;
		});
	}

	#requireCapacity(personId: string): void {
		const retry_after = this.#limiter.tryConsume(personId, PER_MINUTE) || (this.#running < MAX_CONCURRENT ? 0 : 5);
		if (retry_after === 0) return;
		const sentence = `Too many suggestions are requested. Try again in ${retry_after} seconds.`;
		throw new AppError('rate_limit_exceeded', sentence, { retry_after });
	}
}
