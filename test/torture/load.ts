import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { eventsOf } from '../support/event-stream.ts';
import type { Random } from '../support/random.ts';
import type { ApiResponse } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import type { ApiClient } from './api-client.ts';
import { followConversation } from './follower.ts';
import { type Change, Item, type KnownConversation, type Ledger, now, type Repeat, type Turn } from './ledger.ts';

const ASSISTANTS = '/api/v1/assistants';
const MESSAGES = '/api/v1/messages';
const MAX_TURNS = 6;
/** After a refusal, as a client that respects the server waits. */
const BACK_OFF_MS = 30;
/** Something that a client waits for. */
const MAX_WAIT_MS = 60_000;

/** What the clients work with. */
export interface Scene {
	deployment: string;
	knowledgeBase: string;
}

/** How the clients behave, apart from their requests. */
export interface LoadOptions {
	/**
	 * Set: a request with an Idempotency-Key is repeated at once until it has succeeded, as where another server
	 * replaces a dead one. It gets the milliseconds since the first attempt. Absent: it is repeated after the next start.
	 * @param attempts describes each request and its time
	 */
	onAnswer?: (waitedMs: number, attempts: readonly string[]) => void;
	/** Milliseconds between two requests of a client. */
	pauseMs?: number;
}

/** The connection broke before the answer: the outcome is not known. */
class NoAnswer extends Error {}

/** Clients that use a server at the same time, each making one request after the other, until `stop` or the server's end. */
export class Load {
	readonly #server: ApiClient;
	readonly #ledger: Ledger;
	readonly #scene: Scene;
	readonly #options: LoadOptions;
	readonly #stopped = new AbortController();
	readonly #work: Promise<unknown>;
	/** Requests that are repeated until they have succeeded. */
	readonly #waiting = new Set<object>();
	/** The conversation that each follower is to follow. */
	readonly #followed = new Map<number, KnownConversation>();

	constructor(server: ApiClient, ledger: Ledger, scene: Scene, random: Random, options: LoadOptions = {}) {
		this.#server = server;
		this.#ledger = ledger;
		this.#scene = scene;
		this.#options = options;
		this.#work = this.#run(random);
		this.#work.catch(() => {});
	}

	/** Lets each client end its request. Rejects with a defect of a client. */
	async stop(): Promise<void> {
		this.#stopped.abort();
		await this.#work;
	}

	/** Waits until the requests that have no answer yet have one: what the next fault delays is its own. */
	async untilAnswered(): Promise<void> {
		const waiting = [...this.#waiting];
		await until('each client has its answer', () => !waiting.some((request) => this.#waiting.has(request)));
	}

	async #run(random: Random): Promise<void> {
		await Promise.all([
			// Beside the clients: on a full disk the answer to a message waits for space.
			...this.#ledger.unanswered.splice(0).map((repeat) => this.#repeatOnce(repeat)),
			this.#loop(() => this.#changeAssistants(random)),
			this.#loop(() => this.#changeDocuments(random)),
			...[0, 1, 2].map((client) => this.#talk(client, random)),
			...[0, 1, 2].map((client) => this.#loop(() => this.#follow(client))),
		]);
	}

	async #loop(step: () => Promise<void>): Promise<void> {
		while (!this.#stopped.signal.aborted) {
			try {
				await step();
				if (this.#options.pauseMs !== undefined) await sleep(this.#options.pauseMs);
			} catch (error) {
				if (!(error instanceof NoAnswer)) throw error;
				// A server that ends refuses connections, and a running server has closed an idle connection.
				await sleep(BACK_OFF_MS);
			}
		}
	}

	/** Makes a request for a change and records its outcome. Returns null for a refusal. */
	async #ask(change: Change, method: string, path: string, body?: unknown, key?: string): Promise<ApiResponse | null> {
		const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
		let response: ApiResponse;
		try {
			response = await this.#server.call(method, path, body, headers);
		} catch (error) {
			throw new NoAnswer('no answer', { cause: error });
		}
		if (response.status < 300) {
			this.#ledger.acknowledge(change);
			return response;
		}
		this.#ledger.refuse(`${method} ${path}`, response.status, response.body);
		// An error of the server leaves open what it has stored.
		if (response.status < 500) change.outcome = 'refused';
		await sleep(BACK_OFF_MS);
		return null;
	}

	/** Repeats a request. The server may end meanwhile. */
	async #repeatOnce(repeat: Repeat): Promise<void> {
		try {
			await this.#repeat(repeat);
		} catch (error) {
			if (!(error instanceof NoAnswer)) throw error;
		}
	}

	/** A repeat after a restart has the response of the first request, or carries it out. */
	async #repeat({ item, conversation, path, body, key }: Repeat): Promise<void> {
		const known = item.id;
		if (conversation !== null && conversation.existence.value === null) conversation.existence.begin('there');
		const change = item.begin(item.changes.at(-1)?.value ?? null);
		const response = await this.#ask(change, 'POST', path, body, key);
		if (response === null) return;
		const id = path === MESSAGES ? response.body.user_message.id : response.body.id;
		if (known !== null && id !== known)
			this.#ledger.faults.push(`The repeat of ${item.name} made ${id} besides ${known}.`);
		item.id = id;
		if (conversation === null) return;
		conversation.id = response.body.conversation_id;
		this.#created(conversation);
	}

	async #changeAssistants(random: Random): Promise<void> {
		const { assistants } = this.#ledger;
		const serial = this.#ledger.nextSerial();
		const value = `version ${serial}`;
		const known = random.chance(0.4) ? assistants.filter(({ id, isUncertain }) => id !== null && !isUncertain) : [];
		const [item] = known.slice(random.between(0, Math.max(known.length - 1, 0)));
		if (item !== undefined) {
			const change = item.begin(value);
			await this.#ask(change, 'PATCH', `${ASSISTANTS}/${item.id}`, { master_prompt: value });
			return;
		}
		const created = new Item(`Assistant ${serial}`);
		assistants.push(created);
		const body = { name: created.name, master_prompt: value };
		const key = `key-${serial}`;
		const request = { item: created, conversation: null, path: ASSISTANTS, body, key };
		const response = await this.#askWithRepeat(request, value);
		if (response === null) return;
		created.id = response.body.id;
		if (random.chance(0.3)) await this.#repeatAnswered(request, response);
	}

	/** A request that is repeated if no answer comes: at once, or after the next start. */
	async #askWithRepeat(request: Repeat, value: string): Promise<ApiResponse | null> {
		this.#waiting.add(request);
		return this.#askUntilAnswered(request, value).finally(() => this.#waiting.delete(request));
	}

	async #askUntilAnswered(request: Repeat, value: string): Promise<ApiResponse | null> {
		const { item, path, body, key } = request;
		const { onAnswer } = this.#options;
		const change = item.begin(value);
		const attempts: string[] = [];
		for (const begunAt = now(); ; ) {
			const sentAt = now();
			const ended = (how: string) => attempts.push(`${how} after ${(now() - sentAt).toFixed()} ms`);
			try {
				const response = await this.#ask(change, 'POST', path, body, key);
				ended(response === null ? 'refused' : `${path} answered by ${response.headers.get('x-request-id')}`);
				if (response !== null) onAnswer?.(now() - begunAt, attempts);
				if (response !== null || onAnswer === undefined || change.outcome === 'refused') return response;
			} catch (error) {
				ended('no answer');
				if (!(error instanceof NoAnswer) || onAnswer === undefined) {
					if (error instanceof NoAnswer) this.#ledger.unanswered.push(request);
					throw error;
				}
				await sleep(BACK_OFF_MS);
			}
			if (now() - begunAt < MAX_WAIT_MS) continue;
			this.#ledger.faults.push(`${item.name} had no answer within ${MAX_WAIT_MS / 1_000} s.`);
			return null;
		}
	}

	/** Repeats a request that was answered: the response must be the same. */
	async #repeatAnswered({ item, path, body, key }: Repeat, first: ApiResponse): Promise<void> {
		const again = await this.#server.call('POST', path, body, { 'idempotency-key': key }).catch(() => null);
		if (again === null) return;
		if (again.status >= 500) this.#ledger.refuse('a repeat', again.status, again.body);
		else if (again.status !== first.status || !isDeepStrictEqual(again.body, first.body))
			this.#ledger.faults.push(
				`The repeat of ${item.name} has ${JSON.stringify(again.body)} instead of ${JSON.stringify(first.body)}.`,
			);
	}

	async #changeDocuments(random: Random): Promise<void> {
		const { documents } = this.#ledger;
		const path = `/api/v1/knowledge-bases/${this.#scene.knowledgeBase}/documents`;
		const there = documents.filter(({ id, isUncertain, value }) => id !== null && !isUncertain && value !== null);
		const [oldest] = there;
		if (oldest !== undefined && there.length > 3 && random.chance(0.4)) {
			await this.#ask(oldest.begin(null), 'DELETE', `${path}/${oldest.id}`);
			return;
		}
		if (random.chance(0.2)) {
			const search = `/api/v1/knowledge-bases/${this.#scene.knowledgeBase}/search`;
			const found = await this.#server.call('POST', search, { query: 'blue kettles' }).catch(() => null);
			if (found !== null && found.status !== 200) this.#ledger.refuse('a search', found.status, found.body);
		}
		const serial = this.#ledger.nextSerial();
		const item = new Item(`Document ${serial}`);
		documents.push(item);
		const content = `${item.name}: shelf ${serial} holds kettles. ${'They are blue. '.repeat(random.between(0, 60))}`;
		let body: unknown = { source_type: 'text', title: item.name, content };
		if (random.chance(0.5)) {
			const form = new FormData();
			form.set('title', item.name);
			form.set('file', new Blob([content]), `${serial}.txt`);
			body = form;
		}
		const response = await this.#ask(item.begin('there'), 'POST', path, body);
		if (response !== null) item.id = response.body.id;
		await sleep(random.between(10, 60));
	}

	async #talk(client: number, random: Random): Promise<void> {
		let current: KnownConversation | null = null;
		await this.#loop(async () => {
			if (current === null || (current.id !== null && current.turns.length >= MAX_TURNS)) {
				const ended: KnownConversation | null = current;
				current = null;
				// Once only: without an answer it may be erased.
				if (ended?.id && random.chance(0.4))
					await this.#ask(ended.existence.begin(null), 'DELETE', `/api/v1/conversations/${ended.id}?purge=true`);
				current = this.#newConversation();
			}
			const conversation: KnownConversation = current;
			try {
				const goesOn = await this.#takeTurn(conversation, client === 2, random);
				if (!goesOn) current = null;
			} catch (error) {
				// Its order is certain only as long as each request has an answer.
				current = null;
				throw error;
			}
			if (conversation.id === null) current = null;
			else if (this.#followed.get(client) !== conversation) this.#followed.set(client, conversation);
		});
	}

	#newConversation(): KnownConversation {
		const serial = this.#ledger.nextSerial();
		const conversation: KnownConversation = {
			id: null,
			turns: [],
			metadata: new Item(`the metadata of conversation ${serial}`),
			existence: new Item(`conversation ${serial}`),
			lastEventId: null,
		};
		this.#ledger.conversations.push(conversation);
		return conversation;
	}

	/** @returns whether the conversation can go on */
	async #takeTurn(conversation: KnownConversation, streams: boolean, random: Random): Promise<boolean> {
		const serial = this.#ledger.nextSerial();
		const content = `question ${serial}`;
		const turn: Turn = { question: new Item(content), reply: new Item(`the reply to ${content}`) };
		conversation.turns.push(turn);
		// Its first message creates the conversation.
		if (conversation.id === null) conversation.existence.begin('there');
		const body = {
			deployment_id: this.#scene.deployment,
			content,
			...(conversation.id === null ? {} : { conversation_id: conversation.id }),
		};
		if (streams) await this.#askStreamed(conversation, turn, body);
		else {
			const request = { item: turn.question, conversation, path: MESSAGES, body, key: `turn-${serial}` };
			const response = await this.#askWithRepeat(request, 'asked');
			if (response === null) return false;
			turn.question.id = response.body.user_message.id;
			conversation.id = response.body.conversation_id;
			if (response.body.status === 'completed') this.#ledger.complete(turn, response.body.content);
			// A repeat writes a failed reply again.
			if (response.body.status === 'completed' && random.chance(0.1)) await this.#repeatAnswered(request, response);
		}
		if (turn.question.value === null || turn.question.isUncertain) return false;
		this.#created(conversation);
		if (random.chance(0.4)) {
			const value = String(this.#ledger.nextSerial());
			const change = conversation.metadata.begin(value);
			const path = `/api/v1/conversations/${conversation.id}`;
			return (await this.#ask(change, 'PATCH', path, { metadata: { serial: value } })) !== null;
		}
		return true;
	}

	/** The first answer to a message says that the conversation exists. */
	#created({ existence }: KnownConversation): void {
		const creation = existence.changes.at(-1);
		if (creation?.outcome === 'unknown') this.#ledger.acknowledge(creation);
	}

	async #askStreamed(conversation: KnownConversation, turn: Turn, body: Record<string, unknown>): Promise<void> {
		const change = turn.question.begin('asked');
		let text = '';
		try {
			const response = await fetch(`${this.#server.url}${MESSAGES}`, {
				method: 'POST',
				headers: { authorization: `Bearer ${this.#server.key}`, 'content-type': 'application/json' },
				body: JSON.stringify({ ...body, stream: true }),
			});
			if (response.status !== 200) {
				this.#ledger.refuse('a streamed message', response.status, (await response.json()) as object);
				if (response.status < 500) change.outcome = 'refused';
				return;
			}
			for await (const { event, data } of eventsOf(response)) {
				if (event === 'message.created' && data.message.role === 'user') {
					this.#ledger.acknowledge(change);
					turn.question.id = data.message.id;
					conversation.id = data.message.conversation_id;
					this.#created(conversation);
				} else if (event === 'message.reset') text = '';
				else if (event === 'message.delta') text += data.delta;
				else if (event === 'message.completed') {
					// A reply that has ended before its stream was read comes as a whole. Reads from another process take long enough for that.
					const isWhole = text === '' && this.#options.onAnswer !== undefined;
					if (text !== data.message.content && !isWhole)
						this.#ledger.faults.push(`The parts of the reply to ${turn.question.name} are not its text: ${text}`);
					this.#ledger.complete(turn, data.message.content);
				}
			}
		} catch (error) {
			throw new NoAnswer('the stream broke', { cause: error });
		}
	}

	async #follow(client: number): Promise<void> {
		const conversation = this.#followed.get(client);
		if (conversation === undefined || conversation.id === null) return sleep(BACK_OFF_MS);
		const moved = new AbortController();
		const watch = setInterval(() => this.#followed.get(client) !== conversation && moved.abort(), 50);
		try {
			const signal = AbortSignal.any([moved.signal, this.#stopped.signal]);
			const refusal = await followConversation(this.#server, this.#ledger, conversation, signal);
			if (refusal !== null && refusal.status !== 404)
				this.#ledger.refuse('the follower of a conversation', refusal.status, refusal.body);
		} finally {
			clearInterval(watch);
		}
		await sleep(BACK_OFF_MS);
	}
}
