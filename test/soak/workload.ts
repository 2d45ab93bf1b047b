import { setTimeout as sleep } from 'node:timers/promises';
import { call, deploy } from '../../bench/load/deploy.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { childrenOf } from './process-figures.ts';

/** Conversations and documents that exist at a time: the oldest is erased for each new one, so that the data do not grow. */
const CONVERSATIONS = 60;
const DOCUMENTS = 6;
/** More messages than a mailbox takes. */
const CROWD = 24;

/** How often something was done, and how often a request was answered with each status. */
export type Counts = Record<string, number>;

/** Uses a server like many clients, with requests that fail and connections that break, until the signal aborts. */
export class Workload {
	readonly counts: Counts = {};
	readonly #server: ServerProcess;
	readonly #random: () => number;
	readonly #signal: AbortSignal;
	readonly #conversations: string[] = [];
	readonly #documents: string[] = [];
	#deployment = '';
	#base = '';

	/** @param model the id of the assistant's model @param random numbers from 0 to 1 */
	static async open(
		server: ServerProcess,
		model: string,
		random: () => number,
		signal: AbortSignal,
	): Promise<Workload> {
		const workload = new Workload(server, random, signal);
		workload.#base = (await call(server, 'POST', '/api/v1/knowledge-bases', { name: 'Soak' })).id;
		const rate_limit = { messages_per_minute: 1_000 };
		workload.#deployment = await deploy(server, { model }, { rate_limit }, [workload.#base]);
		return workload;
	}

	private constructor(server: ServerProcess, random: () => number, signal: AbortSignal) {
		this.#server = server;
		this.#random = random;
		this.#signal = signal;
	}

	/** Resolves when the signal has aborted. @throws Error for an answer that no client may get */
	async run(): Promise<void> {
		await Promise.all([
			this.#repeat(250, () => this.#talk(false)),
			this.#repeat(250, () => this.#talk(true)),
			this.#repeat(400, () => this.#follow()),
			this.#repeat(5_000, () => this.#crowd()),
			this.#repeat(3_000, () => this.#exchangeDocument()),
			this.#repeat(15_000, () => this.#killParser()),
		]);
	}

	async #repeat(pauseMs: number, work: () => Promise<void>): Promise<void> {
		while (!this.#signal.aborted) {
			await work();
			await sleep(pauseMs * (0.5 + this.#random()), undefined, { signal: this.#signal }).catch(() => {});
		}
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
		if (this.#conversations.length > CONVERSATIONS) await this.#erase();
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

	async #exchangeDocument(): Promise<void> {
		const documents = `/api/v1/knowledge-bases/${this.#base}/documents`;
		const content = `Order ${this.#random()} leaves the house within two days. The lid of the kettle is made of brass.`;
		const { status, body } = await this.#server.call('POST', documents, { source_type: 'text', content });
		this.#count(`document ${status}`);
		if (status === 201) this.#documents.push(body.id);
		if (this.#documents.length <= DOCUMENTS) return;
		const { status: deleted } = await this.#server.call('DELETE', `${documents}/${this.#documents.shift()}`);
		this.#count(`document deleted ${deleted}`);
	}

	async #erase(): Promise<void> {
		const id = this.#conversations.shift();
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
		let text = '';
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
		} catch (error) {
			if (!limit.aborted || !leaves) throw error;
			this.#count(`${name} left`);
		}
		return text;
	}

	#count(name: string): void {
		this.counts[name] = (this.counts[name] ?? 0) + 1;
	}
}
