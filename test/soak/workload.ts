import { setTimeout as sleep } from 'node:timers/promises';
import { call, deploy } from '../../bench/load/deploy.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { childrenOf } from './process-figures.ts';

/** How much exists at a time: the oldest is erased for each new one, so that the data do not grow. */
export interface DataSizes {
	conversations: number;
	documents: number;
	/** Milliseconds between two deaths of the process that parses documents. */
	killEveryMs: number;
}
const FULL_SIZES: DataSizes = { conversations: 60, documents: 6, killEveryMs: 15_000 };
/** More messages than a mailbox takes. */
const CROWD = 24;

/** The last event of a streamed reply. */
const END_OF_REPLY = /^event: message\.(?:completed|failed)$/m;
/** The end of the name of an answer whose stream broke off. */
const WITHOUT_END = ' without its end';
const isStream = ({ headers }: Response) => headers.get('content-type')?.startsWith('text/event-stream') === true;

/** How often something was done, and how often a request was answered with each status. */
export type Counts = Record<string, number>;

/** Uses a server like many clients, with requests that fail and connections that break. */
export class Workload {
	readonly counts: Counts = {};
	/** Requests of clients that were begun, and those that were answered or left by the client. */
	readonly requests = { begun: 0, answered: 0, left: 0 };
	readonly #server: ServerProcess;
	readonly #random: () => number;
	readonly #sizes: DataSizes;
	readonly #conversations: string[] = [];
	readonly #documents: string[] = [];
	/** Erased conversations: their streams end without their replies. */
	readonly #erased = new Set<unknown>();
	#deployment = '';
	#base = '';

	/** @param model the id of the assistant's model @param random numbers from 0 to 1 */
	static async open(
		server: ServerProcess,
		model: string,
		random: () => number,
		sizes: DataSizes = FULL_SIZES,
	): Promise<Workload> {
		const workload = new Workload(server, random, sizes);
		workload.#base = (await call(server, 'POST', '/api/v1/knowledge-bases', { name: 'Soak' })).id;
		const rate_limit = { messages_per_minute: 1_000 };
		workload.#deployment = await deploy(server, { model }, { rate_limit }, [workload.#base]);
		return workload;
	}

	private constructor(server: ServerProcess, random: () => number, sizes: DataSizes) {
		this.#server = server;
		this.#random = random;
		this.#sizes = sizes;
	}

	/** Resolves when the signal has aborted and the last requests are answered. @throws Error for a request without an answer */
	async run(signal: AbortSignal): Promise<void> {
		const repeat = async (pauseMs: number, work: () => Promise<void>) => {
			while (!signal.aborted) {
				await work();
				await sleep(pauseMs * (0.5 + this.#random()), undefined, { signal }).catch(() => {});
			}
		};
		await Promise.all([
			repeat(250, () => this.#talk(false)),
			repeat(250, () => this.#talk(true)),
			repeat(400, () => this.#follow()),
			repeat(5_000, () => this.#crowd()),
			repeat(3_000, () => this.#exchangeDocument()),
			repeat(this.#sizes.killEveryMs, () => this.#killParser()),
		]);
	}

	/** Starts the workers, by a document that is indexed and a message that is answered. */
	async warmUp(): Promise<void> {
		await this.#exchangeDocument();
		const path = `${this.#documentsPath}/${this.#documents[0]}`;
		const isIndexed = async () => (await call(this.#server, 'GET', path)).status === 'indexed';
		await until('the document is indexed', isIndexed);
		await this.#talk(false);
	}

	/** Counted answers that no client may get. A reply that the model failed to give is answered 500 `model_error`. */
	wrongAnswers(): string[] {
		const isWrong = (name: string) => / 5\d\d/.test(name) && !/ (?:503|500 model_error)/.test(name);
		return Object.keys(this.counts).filter((name) => isWrong(name) || name.endsWith(WITHOUT_END));
	}

	/** A message, streamed or not, in a new or an old conversation. Some clients leave before the end. */
	async #talk(stream: boolean): Promise<void> {
		const old = this.#random() < 0.5 ? this.#anyConversation() : undefined;
		const place = { deployment_id: this.#deployment, ...(old === undefined ? {} : { conversation_id: old }) };
		const leaves = this.#random() < 0.2;
		const text = await this.#request(
			'message',
			'/api/v1/messages',
			{ ...place, content: 'Where is my order?', stream },
			leaves,
		);
		const id = old === undefined ? /"conversation_id":"([^"]+)"/.exec(text)?.[1] : undefined;
		if (id !== undefined) this.#conversations.push(id);
		if (this.#conversations.length > this.#sizes.conversations) await this.#erase();
	}

	/** Reads a conversation's events for a moment. */
	async #follow(): Promise<void> {
		const id = this.#anyConversation();
		if (id !== undefined) await this.#request('follow', `/api/v1/conversations/${id}/events`, undefined, true);
	}

	/** More messages at once than the mailbox of a conversation takes. */
	async #crowd(): Promise<void> {
		const id = this.#anyConversation();
		if (id === undefined) return;
		const body = { deployment_id: this.#deployment, conversation_id: id, content: 'Are you there?', stream: true };
		await Promise.all(Array.from({ length: CROWD }, () => this.#request('crowd', '/api/v1/messages', body, false)));
	}

	/** Adds a document, and deletes the oldest of too many. */
	async #exchangeDocument(): Promise<void> {
		const content = `Order ${this.#random()} leaves the house within two days. The lid of the kettle is made of brass.`;
		const { status, body } = await this.#server.call('POST', this.#documentsPath, { source_type: 'text', content });
		this.#count(`document ${status}`);
		if (status === 201) this.#documents.push(body.id);
		if (this.#documents.length <= this.#sizes.documents) return;
		const { status: deleted } = await this.#server.call('DELETE', `${this.#documentsPath}/${this.#documents.shift()}`);
		this.#count(`document deleted ${deleted}`);
	}

	get #documentsPath(): string {
		return `/api/v1/knowledge-bases/${this.#base}/documents`;
	}

	async #erase(): Promise<void> {
		const id = this.#conversations.shift();
		this.#erased.add(id);
		const { status } = await this.#server.call('DELETE', `/api/v1/conversations/${id}?purge=true`);
		this.#count(`erase ${status}`);
	}

	/** Ends the process that parses documents, which the next document starts again. */
	async #killParser(): Promise<void> {
		for (const pid of await childrenOf(this.#server.pid)) {
			process.kill(pid, 'SIGKILL');
			this.#count('worker killed');
		}
	}

	#anyConversation(): string | undefined {
		return this.#conversations[Math.floor(this.#random() * this.#conversations.length)];
	}

	/** The text of an answer, or what has arrived before this client left. */
	async #request(name: string, path: string, body: unknown, leaves: boolean): Promise<string> {
		const limit = AbortSignal.timeout(leaves ? 100 + Math.floor(this.#random() * 400) : 120_000);
		const conversation = (body as { conversation_id?: string } | undefined)?.conversation_id;
		let text = '';
		this.requests.begun++;
		try {
			const response = await fetch(this.#server.url + path, {
				method: body === undefined ? 'GET' : 'POST',
				headers: { authorization: `Bearer ${this.#server.key}`, 'content-type': 'application/json' },
				...(body === undefined ? {} : { body: JSON.stringify(body) }),
				signal: limit,
			});
			const decoder = new TextDecoder();
			for await (const bytes of response.body ?? []) text += decoder.decode(bytes as Uint8Array, { stream: true });
			const code = response.status < 400 ? undefined : /"code":"([a-z_]+)"/.exec(text)?.[1];
			this.#count([name, response.status, code].filter(Boolean).join(' '));
			this.requests.answered++;
			const mustEnd = isStream(response) && !leaves && !this.#erased.has(conversation);
			if (mustEnd && !END_OF_REPLY.test(text)) this.#count(`${name}${WITHOUT_END}`);
		} catch (error) {
			if (!limit.aborted || !leaves) throw error;
			this.requests.left++;
			this.#count(`${name} left`);
		}
		return text;
	}

	#count(name: string): void {
		this.counts[name] = (this.counts[name] ?? 0) + 1;
	}
}
