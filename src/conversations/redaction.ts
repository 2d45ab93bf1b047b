import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RedactionKind } from '../contract/index.ts';
import type { ChatMessage, ChatModel, ChatRequest, CompletedRound, ModelEvent } from '../models/index.ts';
import { PlaceholderRestorer, Placeholders } from '../redaction/index.ts';
import type { MessageRecord, Store } from '../store/index.ts';

/** Messages before the question, and characters of them, that are read for the numbers of placeholders. */
const MAX_MESSAGES = 1_000;
const MAX_CHARS = 1_000_000;
const PAGE_SIZE = 100;
/** Characters that are searched for values in one turn of the event loop: at most tens of milliseconds. */
const MAX_CHARS_PER_TURN = 32_768;

/** The conversation as a provider gets it: the values of messages and of tools' results are replaced by placeholders. */
export class ConversationRedaction {
	readonly question: string;
	readonly history: readonly ChatMessage[];
	readonly #placeholders: Placeholders;
	readonly #rounds = new WeakMap<CompletedRound, CompletedRound>();

	constructor(placeholders: Placeholders, question: string, history: readonly ChatMessage[]) {
		this.#placeholders = placeholders;
		this.question = question;
		this.history = history;
	}

	/** The text with the values of its placeholders, for use on the server. */
	restore(text: string): string {
		return this.#placeholders.restore(text);
	}

	/**
	 * A model that gets the redacted conversation, whatever the conversation in its requests. Its text has the values again, except
	 * in addresses, and so have the arguments of its calls: a tool cannot use a placeholder.
	 */
	applyTo(model: ChatModel): ChatModel {
		const { isFree = false } = model;
		return {
			isFree,
			stream: async (request, signal, onEvent) => {
				const rounds = await this.#redactRounds(request.rounds);
				signal.throwIfAborted();
				const { question, history } = this;
				const redacted: ChatRequest = { ...request, question, history, rounds, has_placeholders: true };
				const restored = new RestoredEvents(this.#placeholders, onEvent);
				await model.stream(redacted, signal, restored.take);
				restored.end();
			},
		};
	}

	/** Rounds are redacted once, in order, so that placeholders keep their numbers. */
	async #redactRounds(rounds: readonly CompletedRound[]): Promise<CompletedRound[]> {
		const pace = new Pace();
		const redacted: CompletedRound[] = [];
		for (const round of rounds) {
			let known = this.#rounds.get(round);
			if (known === undefined) {
				known = await this.#redactRound(round, pace);
				this.#rounds.set(round, known);
			}
			redacted.push(known);
		}
		return redacted;
	}

	async #redactRound(round: CompletedRound, pace: Pace): Promise<CompletedRound> {
		const results: string[] = [];
		for (const { result } of round.calls) {
			await pace.reading(result);
			results.push(this.#placeholders.redact(result));
		}
		await pace.reading(round.text);
		const text = this.#placeholders.redact(round.text);
		const calls = round.calls.map((call, at) => {
			return { ...call, arguments: this.#placeholders.redactJson(call.arguments), result: results[at] as string };
		});
		return { ...round, text, calls };
	}
}

/** The events of a model with the values of its placeholders. */
class RestoredEvents {
	readonly #placeholders: Placeholders;
	readonly #restorer: PlaceholderRestorer;
	readonly #onEvent: (event: ModelEvent) => void;

	constructor(placeholders: Placeholders, onEvent: (event: ModelEvent) => void) {
		this.#placeholders = placeholders;
		this.#restorer = new PlaceholderRestorer(placeholders);
		this.#onEvent = onEvent;
	}

	readonly take = (event: ModelEvent): void => {
		switch (event.type) {
			case 'delta':
				this.#pass(this.#restorer.add(event.text));
				break;
			case 'tool_call':
				this.#onEvent({ ...event, arguments: this.#placeholders.restoreJson(event.arguments) });
				break;
			default:
				this.#onEvent(event);
		}
	};

	/** Passes the rest of the text. */
	end(): void {
		this.#pass(this.#restorer.end());
	}

	#pass(text: string): void {
		if (text !== '') this.#onEvent({ type: 'delta', text });
	}
}

/** Gives other work a turn of the event loop between long texts. */
class Pace {
	#chars = 0;

	async reading(text: string): Promise<void> {
		if (this.#chars > 0 && this.#chars + text.length > MAX_CHARS_PER_TURN) {
			await nextTurn();
			this.#chars = 0;
		}
		this.#chars += text.length;
	}
}

/**
 * Redacts a question with the messages before it. Placeholders are numbered by their order in the stored conversation, so they
 * are the same in each reply, also after a restart.
 * @param history the messages before the question that a model gets
 */
export async function redactConversation(
	store: Pick<Store, 'list'>,
	kinds: readonly RedactionKind[],
	question: MessageRecord,
	history: readonly ChatMessage[],
): Promise<ConversationRedaction> {
	const placeholders = new Placeholders(kinds);
	const pace = new Pace();
	for (const text of await textsBefore(store, question)) {
		await pace.reading(text);
		placeholders.learn(text);
	}
	placeholders.learn(question.content);
	const redacted: ChatMessage[] = [];
	for (const { role, content } of history) {
		await pace.reading(content);
		redacted.push({ role, content: placeholders.redact(content) });
	}
	return new ConversationRedaction(placeholders, placeholders.redact(question.content), redacted);
}

/** The texts of the conversation before a question that may have values, oldest first: results of tools, then the reply with them. */
async function textsBefore(store: Pick<Store, 'list'>, { conversation_id, seq }: MessageRecord): Promise<string[]> {
	const texts: string[] = [];
	let chars = 0;
	let before = { at: seq, id: '' };
	for (let read = 0; read < MAX_MESSAGES && chars < MAX_CHARS && before.at > 1; read += PAGE_SIZE) {
		const query = { where: { conversation_id }, after: before, order: 'desc', limit: PAGE_SIZE } as const;
		const page = await store.list('messages', query);
		for (const message of page) {
			const ofMessage = textsOf(message);
			texts.push(...ofMessage.toReversed());
			chars += ofMessage.reduce((sum, text) => sum + text.length, 0);
			before = { at: message.seq, id: message.id };
		}
		if (page.length < PAGE_SIZE) break;
	}
	return texts.reverse();
}

function textsOf({ content, tool_calls }: MessageRecord): string[] {
	const results = tool_calls.map(({ result }) => result).filter((result) => typeof result === 'string');
	return [...results, content];
}
