import { Counter, Histogram, type Registry } from 'prom-client';
import { ID_PREFIXES } from '../base/index.ts';
import type { Message } from '../contract/index.ts';
import type { NewEvent } from '../store/index.ts';

/** Seconds. */
const FIRST_TOKEN = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30];
const WHOLE_REPLY = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];
/** Models with figures of their own. A provider may take any name; the others count as `other`. */
const MAX_MODELS = 200;

/** Counts messages and replies from the events of commits: a reply counts once, when it is on disk. */
export class ReplyMetrics {
	readonly #messages: Counter<'author'>;
	readonly #replies: Counter<'model' | 'outcome'>;
	readonly #tokens: Counter<'model' | 'direction'>;
	readonly #firstToken: Histogram<'model'>;
	readonly #duration: Histogram<'model'>;
	readonly #models = new Set<string>();

	constructor(registry: Registry) {
		const registers = [registry];
		this.#messages = new Counter({
			name: 'parley_messages_total',
			help: 'Messages by author: visitor, model or human.',
			labelNames: ['author'],
			registers,
		});
		this.#replies = new Counter({
			name: 'parley_replies_total',
			help: 'Replies of models, by what answered (documents, tools, model, none) or how they ended (failed, stopped).',
			labelNames: ['model', 'outcome'],
			registers,
		});
		this.#tokens = new Counter({
			name: 'parley_tokens_total',
			help: 'Tokens of replies that providers reported, by direction: input or output.',
			labelNames: ['model', 'direction'],
			registers,
		});
		this.#firstToken = new Histogram({
			name: 'parley_reply_first_token_seconds',
			help: 'Time from a message to the first text of its reply.',
			labelNames: ['model'],
			buckets: FIRST_TOKEN,
			registers,
		});
		this.#duration = new Histogram({
			name: 'parley_reply_duration_seconds',
			help: 'Time from a message to the end of its reply, of replies that were completed.',
			labelNames: ['model'],
			buckets: WHOLE_REPLY,
			registers,
		});
	}

	/** Takes the events of a commit of this server. */
	onCommitted(events: readonly NewEvent[]): void {
		for (const { type, stream, data } of events) {
			// The stream of the conversation has the event, too.
			if (type === 'message.created' && stream.startsWith(ID_PREFIXES.workspace)) this.#count(data as Message);
		}
	}

	#count({ author, model: name, status, answered_by, usage, first_token_ms, duration_ms }: Message): void {
		this.#messages.inc({ author: author.type });
		if (author.type !== 'model') return;
		const model = this.#nameOf(name ?? 'none');
		this.#replies.inc({ model, outcome: answered_by ?? (status === 'stopped' ? 'stopped' : 'failed') });
		if (usage) {
			this.#tokens.inc({ model, direction: 'input' }, usage.input_tokens ?? 0);
			this.#tokens.inc({ model, direction: 'output' }, usage.output_tokens ?? 0);
		}
		if (first_token_ms !== null) this.#firstToken.observe({ model }, first_token_ms / 1_000);
		if (duration_ms !== null && status === 'completed') this.#duration.observe({ model }, duration_ms / 1_000);
	}

	#nameOf(model: string): string {
		if (this.#models.has(model)) return model;
		if (this.#models.size >= MAX_MODELS) return 'other';
		this.#models.add(model);
		return model;
	}
}
