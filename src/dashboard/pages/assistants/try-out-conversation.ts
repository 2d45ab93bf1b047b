import { api, type Resource, resultOf } from '../../api/client.ts';
import { type ReplyEvent, streamReply } from '../../api/message-stream.ts';
import { sentenceOf } from '../../components/page.tsx';
import { errorText } from '../../languages/error-text.ts';
import { strings } from '../../languages/index.ts';
import type { Assistant } from './queries.ts';

type Message = Resource<'Message'>;

export interface Question {
	kind: 'question';
	id: string;
	content: string;
}

export interface Reply {
	kind: 'reply';
	id: string;
	content: string;
	citations: Message['citations'];
	toolCalls: Message['tool_calls'];
	usage: Message['usage'];
	/** Why there is no whole reply, in a sentence. */
	error: string | null;
	isRunning: boolean;
	/** From the question to the first word, and to the end (ms). */
	firstWordMs: number | null;
	wholeMs: number;
}

export type Entry = Question | Reply;

/** A conversation with one assistant, as the page shows it. */
export class TryOutConversation {
	entries: readonly Entry[] = [];
	readonly #assistant: Assistant;
	readonly #onChange: () => void;
	#conversationId: string | undefined;
	#deploymentId: string | undefined;
	#abort: AbortController | null = null;
	#count = 0;

	constructor(assistant: Assistant, onChange: () => void) {
		this.#assistant = assistant;
		this.#onChange = onChange;
	}

	get isBusy(): boolean {
		return this.#abort !== null;
	}

	/** Sends a question and shows the reply while it is written. */
	async ask(content: string): Promise<void> {
		const abort = new AbortController();
		this.#abort = abort;
		const began = performance.now();
		let reply: Reply = { ...EMPTY_REPLY, id: `reply-${++this.#count}` };
		this.entries = [...this.entries, { kind: 'question', id: `question-${this.#count}`, content }, reply];
		const show = (change: Partial<Reply>) => {
			if (this.#abort !== abort) return;
			const next = { ...reply, ...change };
			this.entries = this.entries.map((entry) => (entry === reply ? next : entry));
			reply = next;
			this.#onChange();
		};
		show({});
		try {
			this.#deploymentId ??= await deploymentOf(this.#assistant);
			const target = { deployment_id: this.#deploymentId, content };
			const body = this.#conversationId ? { ...target, conversation_id: this.#conversationId } : target;
			await streamReply(body, (event) => show(this.#changeBy(event, reply, began)), abort.signal);
			if (reply.isRunning) show({ isRunning: false, wholeMs: Math.round(performance.now() - began) });
		} catch (error) {
			show({ isRunning: false, error: sentenceOf(error as Error) });
		}
		if (this.#abort === abort) this.#abort = null;
		this.#onChange();
	}

	/** Ends the reply that is being written; its text so far stays. */
	async stop(): Promise<void> {
		const id = this.#conversationId;
		if (id !== undefined) await api.POST('/api/v1/conversations/{id}/stop', { params: { path: { id } } });
	}

	/** Forgets the conversation: the next question starts another one. */
	restart(): void {
		this.leave();
		this.#conversationId = undefined;
		this.entries = [];
		this.#onChange();
	}

	/** The page is left. The server finishes the reply. */
	leave(): void {
		this.#abort?.abort();
		this.#abort = null;
	}

	#changeBy(event: ReplyEvent, reply: Reply, began: number): Partial<Reply> {
		const elapsed = Math.round(performance.now() - began);
		switch (event.type) {
			case 'message.created':
				this.#conversationId = event.message.conversation_id;
				return {};
			case 'message.delta':
				return {
					content: reply.content.slice(0, event.index) + event.delta,
					firstWordMs: reply.firstWordMs ?? elapsed,
				};
			case 'message.reset':
				return { content: '', toolCalls: [] };
			case 'tool.started':
			case 'tool.completed': {
				const others = reply.toolCalls.filter(({ id }) => id !== event.tool_call.id);
				return { toolCalls: [...others, event.tool_call] };
			}
			case 'message.completed':
			case 'message.failed': {
				const { content, citations, tool_calls, usage, error } = event.message;
				const failure = error && errorText(strings().errors, error);
				const times = { firstWordMs: reply.firstWordMs ?? elapsed, wholeMs: elapsed };
				return { content, citations, toolCalls: tool_calls, usage, error: failure, isRunning: false, ...times };
			}
		}
	}
}

const EMPTY_REPLY: Omit<Reply, 'id'> = {
	kind: 'reply',
	content: '',
	citations: [],
	toolCalls: [],
	usage: null,
	error: null,
	isRunning: true,
	firstWordMs: null,
	wholeMs: 0,
};

/** Messages go to a deployment: the assistant's oldest active one, or a new one without allowed websites. */
async function deploymentOf({ id, name }: Assistant): Promise<string> {
	const query = { assistant_id: id, status: 'active', order: 'asc', limit: 1 } as const;
	const { data } = await resultOf(api.GET('/api/v1/deployments', { params: { query } }));
	const [first] = data;
	if (first) return first.id;
	return (await resultOf(api.POST('/api/v1/deployments', { body: { name, assistant_id: id } }))).id;
}
