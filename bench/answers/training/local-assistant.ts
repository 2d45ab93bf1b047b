import { streamAnswer } from '../../../src/extractive/index.ts';
import { citedIndexes } from '../../../src/models/index.ts';
import type { Assistant, DialogueMessage, Reply, SourceDocument } from '../assistant.ts';
import { LocalBase } from './local-base.ts';

/** The passages that the built-in model reads. */
export const READ_PASSAGES = 20;
/** As many as the API returns. A document may have several of the best. */
const MAX_CHUNKS = 50;

/** The built-in model with one knowledge base in this process. It answers as a server does, without its other work. */
export class LocalAssistant implements Assistant, AsyncDisposable {
	readonly unread: readonly string[];
	readonly #base: LocalBase;

	private constructor(base: LocalBase) {
		this.#base = base;
		this.unread = base.unread;
	}

	static async create(documents: readonly SourceDocument[]): Promise<LocalAssistant> {
		return new LocalAssistant(await LocalBase.create(documents));
	}

	async ask(history: readonly string[], question: string): Promise<Reply> {
		const earlier: DialogueMessage[] = [];
		for (const content of history) {
			const reply = await this.#reply(content, earlier);
			earlier.push({ role: 'user', content }, { role: 'assistant', content: reply.content });
		}
		return this.#reply(question, earlier);
	}

	async search(question: string, earlier: readonly DialogueMessage[] = []): Promise<string[]> {
		const { passages } = await this.#base.request(question, earlier, MAX_CHUNKS);
		return [...new Set(passages.map(({ document_id }) => document_id))];
	}

	async #reply(question: string, earlier: readonly DialogueMessage[]): Promise<Reply> {
		const request = await this.#base.request(question, earlier, READ_PASSAGES);
		let content = '';
		for await (const piece of streamAnswer(request, new AbortController().signal)) content += piece;
		const cited = citedIndexes(content, request.passages).flatMap((index) => request.passages[index - 1] ?? []);
		return {
			content,
			cited: [...new Set(cited.map(({ document_id }) => document_id))],
			score: Math.max(0, ...cited.map(({ score }) => score)),
		};
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.#base[Symbol.asyncDispose]();
	}
}
