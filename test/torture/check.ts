import { until } from '../support/until.ts';
import type { ApiClient } from './api-client.ts';
import { type Item, type KnownConversation, type Ledger, replyTo, type Span } from './ledger.ts';
import type { Scene } from './load.ts';

/** The moment of the ledger whose state the server must have: one moment, or any moment that all items have in common. */
export type Moment = number | 'any';

/** After everything that was asked for. */
export const NOW = Number.POSITIVE_INFINITY;

/** What a check has found. */
export interface CheckResult {
	/** Values that were compared with the ledger. */
	compared: number;
	/** Sentences; empty: the server has what it must have. */
	faults: string[];
}

interface StoredMessage {
	id: string;
	role: 'user' | 'assistant';
	content: string;
	status: string;
	error: { code: string } | null;
}

interface Observation {
	item: Item;
	value: string | null;
	times: Span;
}

/** Codes with which a reply may end that was interrupted by a fault. */
const FAILED_REPLIES = ['interrupted', 'unavailable', 'model_error', 'internal_error'];

/** Compares what a server shows with the ledger: nothing acknowledged lost or doubled, order kept, nothing that was not asked for. */
export async function checkServer(
	server: ApiClient,
	ledger: Ledger,
	scene: Scene,
	moment: Moment = NOW,
): Promise<CheckResult> {
	const check = new Check(server, ledger, scene);
	await check.assistants();
	await check.documents();
	await check.conversations();
	await check.events();
	return check.result(moment);
}

class Check {
	readonly #server: ApiClient;
	readonly #ledger: Ledger;
	readonly #scene: Scene;
	readonly #faults: string[] = [];
	readonly #observations: Observation[] = [];
	/** Ids of messages whose event must be in the log, by conversation in their order. */
	readonly #announced = new Map<string, string[]>();

	constructor(server: ApiClient, ledger: Ledger, scene: Scene) {
		this.#server = server;
		this.#ledger = ledger;
		this.#scene = scene;
	}

	result(moment: Moment): CheckResult {
		const from = Math.max(...this.#observations.map(({ times }) => times.from));
		const to = Math.min(...this.#observations.map(({ times }) => times.to));
		if (moment === 'any') {
			if (from > to) {
				const newest = this.#observations.find(({ times }) => times.from === from);
				const oldest = this.#observations.find(({ times }) => times.to === to);
				this.#faults.push(
					`${newest?.item.name} is ${newest?.value}, but ${oldest?.item.name} is still ${oldest?.value}, which ended before that.`,
				);
			}
		} else {
			for (const { item, value, times } of this.#observations) {
				if (times.from > moment || times.to < moment)
					this.#faults.push(`${item.name} is ${value}, but its changes are ${JSON.stringify(item.changes)}.`);
			}
		}
		// What the server shows is certain from now on.
		if (moment === NOW) for (const { item, value } of this.#observations) item.settle(value);
		return { compared: this.#observations.length, faults: this.#faults };
	}

	async assistants(): Promise<void> {
		const byName = this.#byName(await this.#all('/api/v1/assistants'), 'name');
		byName.delete('Scene');
		for (const item of this.#ledger.assistants) {
			const stored = byName.get(item.name);
			byName.delete(item.name);
			this.#observe(item, stored?.master_prompt ?? null);
			if (stored !== undefined) this.#identify(item, stored.id);
		}
		for (const name of byName.keys()) this.#faults.push(`There is an assistant ${name} that was not asked for.`);
	}

	async documents(): Promise<void> {
		const path = `/api/v1/knowledge-bases/${this.#scene.knowledgeBase}`;
		const stored = await this.#all(`${path}/documents`);
		const { documents_total } = await this.#get(`${path}/status`);
		if (documents_total !== stored.length)
			this.#faults.push(`${stored.length} documents are listed, and ${documents_total} are counted.`);
		const byTitle = this.#byName(stored, 'title');
		for (const item of this.#ledger.documents) {
			const document = byTitle.get(item.name);
			byTitle.delete(item.name);
			this.#observe(item, document === undefined ? null : 'there');
			if (document === undefined) continue;
			this.#identify(item, document.id);
			const isBlamed = this.#ledger.hasKilledParsers && document.error?.code === 'resource_limit';
			if (document.status === 'error' && !isBlamed)
				this.#faults.push(`${item.name} failed: ${JSON.stringify(document.error)}.`);
		}
		for (const title of byTitle.keys()) this.#faults.push(`There is a document ${title} that was not asked for.`);
	}

	async conversations(): Promise<void> {
		const open = new Set(this.#ledger.conversations);
		for (const { id, metadata } of await this.#all('/api/v1/conversations')) {
			const messages = await this.#settledMessages(id);
			const first = messages[0]?.content;
			const known = [...open].find(({ turns }) => turns.some(({ question }) => question.name === first));
			if (known === undefined) {
				this.#faults.push(`Conversation ${id} begins with ${first}, which no conversation that was asked for does.`);
				continue;
			}
			open.delete(known);
			known.id ??= id;
			this.#observe(known.existence, 'there');
			this.#observe(known.metadata, metadata.serial ?? null);
			this.#checkMessages(known, messages);
		}
		for (const { existence } of open) this.#observe(existence, null);
	}

	/** Each question once, in the order of the requests, each with one reply. */
	#checkMessages({ id, turns, existence }: KnownConversation, messages: StoredMessage[]): void {
		let position = -1;
		const found = new Set<string>();
		for (let at = 0; at < messages.length; at += 2) {
			const [question, reply] = messages.slice(at, at + 2) as [StoredMessage, StoredMessage | undefined];
			const index = turns.findIndex((turn) => turn.question.name === question.content);
			const turn = turns[index];
			if (question.role !== 'user' || reply?.role !== 'assistant' || turn === undefined || index <= position) {
				const list = messages.map(({ role, content }) => `${role}: ${content}`).join('; ');
				this.#faults.push(`The messages of ${existence.name} are out of order: ${list}.`);
				return;
			}
			position = index;
			found.add(question.content);
			this.#identify(turn.question, question.id);
			this.#checkReply(turn.question.name, turn.reply, reply);
		}
		for (const { question } of turns) this.#observe(question, found.has(question.name) ? 'asked' : null);
		const announced = messages.filter(({ role, status }) => role === 'user' || status === 'completed');
		this.#announced.set(
			id as string,
			announced.map((message) => message.id),
		);
	}

	#checkReply(question: string, known: Item, reply: StoredMessage): void {
		if (reply.status === 'completed') {
			if (reply.content !== replyTo(question))
				this.#faults.push(`The stored reply to ${question} is ${JSON.stringify(reply.content)}.`);
			return;
		}
		this.#observe(known, null);
		if (!FAILED_REPLIES.includes(reply.error?.code ?? ''))
			this.#faults.push(`The reply to ${question} ended as ${reply.status}: ${JSON.stringify(reply.error)}.`);
	}

	/** The log has one event for each message, in the order of each conversation, and another for a failed reply that was retried. */
	async events(): Promise<void> {
		const logged = new Map<string, string[]>();
		const seen = new Set<string>();
		const failed = new Set<string>();
		for (let cursor = ''; ; ) {
			const page = await this.#get(`/api/v1/events?types=message.created&limit=100${cursor && `&cursor=${cursor}`}`);
			for (const { id, data } of page.data) {
				if (seen.has(id)) this.#faults.push(`The event ${id} is in the log twice.`);
				seen.add(id);
				const list = logged.get(data.conversation_id) ?? [];
				if (!failed.has(data.id)) list.push(data.id);
				if (data.status === 'failed') failed.add(data.id);
				logged.set(data.conversation_id, list);
			}
			cursor = page.next_cursor;
			if (page.data.length < 100) break;
		}
		for (const [conversation, announced] of this.#announced) {
			const events = logged.get(conversation) ?? [];
			const expected = announced.filter((id) => events.includes(id));
			const isComplete = expected.length === announced.length;
			const inOrder = events.filter((id) => announced.includes(id)).join() === expected.join();
			if (!isComplete || !inOrder)
				this.#faults.push(`Conversation ${conversation} has the messages ${announced} and the events ${events}.`);
		}
	}

	#observe(item: Item, value: string | null): void {
		const times = item.timesOf(value);
		if (times === null)
			this.#faults.push(`${item.name} is ${value}, which was not asked for: ${JSON.stringify(item.changes)}.`);
		else this.#observations.push({ item, value, times });
	}

	#identify(item: Item, id: string): void {
		if (item.id !== null && item.id !== id) this.#faults.push(`${item.name} was ${item.id} and is ${id}.`);
		item.id = id;
	}

	// biome-ignore lint/suspicious/noExplicitAny: lists of several resources
	#byName(stored: any[], field: string): Map<string, any> {
		const found = new Map();
		for (const each of stored) {
			if (found.has(each[field])) this.#faults.push(`${each[field]} is there twice.`);
			found.set(each[field], each);
		}
		return found;
	}

	/** The messages of a conversation once no reply is being written. */
	#settledMessages(id: string): Promise<StoredMessage[]> {
		return until(`the replies of conversation ${id} have ended`, async () => {
			const { data } = await this.#get(`/api/v1/conversations/${id}/messages?limit=100`);
			return !data.some(({ status }: StoredMessage) => status === 'in_progress') && data;
		});
	}

	// biome-ignore lint/suspicious/noExplicitAny: lists of several resources
	async #all(path: string): Promise<any[]> {
		const found = [];
		for (let cursor: string | null = ''; cursor !== null; ) {
			const page = await this.#get(`${path}?limit=100${cursor && `&cursor=${cursor}`}`);
			found.push(...page.data);
			cursor = page.next_cursor;
		}
		return found;
	}

	// biome-ignore lint/suspicious/noExplicitAny: responses of several operations
	async #get(path: string): Promise<any> {
		const { status, body } = await this.#server.call('GET', path);
		if (status !== 200) throw new UnreadableError(`GET ${path} is answered with ${status}: ${JSON.stringify(body)}`);
		return body;
	}
}

/** A server does not show what it stores. */
export class UnreadableError extends Error {}
