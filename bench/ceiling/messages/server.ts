import * as uWS from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { CeilingCommits } from './commits.ts';
import { ModelConnections } from './model-connections.ts';

/** Settings of the ceiling's server. */
export interface MessageCeilingOptions {
	/** The database's file. */
	file: string;
	modelPort: number;
	/** Whether the model is asked while the question is being committed. Its text still waits for the commit. */
	asksEarly: boolean;
}

interface MessageBody {
	deployment_id: string;
	content: string;
}

/**
 * A streamed message with the least work on the libraries that Parley uses: the same rows on disk in the same two commits before
 * they are visible, and the same events to the client; without accounts, checks, follow-ups, searches or resumption.
 * @returns the port
 */
export function startMessageCeiling({ file, modelPort, asksEarly }: MessageCeilingOptions): Promise<number> {
	const commits = new CeilingCommits(file);
	const connections = new ModelConnections(modelPort);
	/** By assistant, and by deployment. */
	const models = new Map<string, string>();

	const app = uWS.App();
	app.post('/api/v1/assistants', (res) =>
		readJson<{ model: string }>(res, ({ model }) => {
			const id = newId('asst');
			models.set(id, model);
			endJson(res, { id });
		}),
	);
	app.post('/api/v1/deployments', (res) =>
		readJson<{ assistant_id: string }>(res, ({ assistant_id }) => {
			const id = newId('dep');
			models.set(id, models.get(assistant_id) as string);
			endJson(res, { id });
		}),
	);
	app.post('/api/v1/messages', (res) =>
		readJson<MessageBody>(res, ({ deployment_id, content }, client) => {
			const turn = new CeilingTurn(res, client, commits, deployment_id, content);
			const ask = () => connections.ask(models.get(deployment_id) as string, content, turn);
			turn.begin(asksEarly ? () => {} : ask);
			if (asksEarly) ask();
		}),
	);
	return new Promise((resolve, reject) => {
		app.listen('127.0.0.1', 0, (socket) => {
			if (socket) resolve(uWS.us_socket_local_port(socket));
			else reject(new Error('The ceiling cannot listen.'));
		});
	});
}

/** A question and its reply. */
class CeilingTurn {
	readonly #res: uWS.HttpResponse;
	readonly #client: Client;
	readonly #commits: CeilingCommits;
	readonly #deployment: string;
	readonly #question: { id: string; role: string; content: string };
	readonly #conversation = newId('conv');
	readonly #reply = newId('msg');
	#content = '';
	/** What is sent once the question is on disk. */
	#pending = '';
	#isStored = false;
	#isOpen = false;
	#hasEnded = false;

	constructor(res: uWS.HttpResponse, client: Client, commits: CeilingCommits, deployment: string, content: string) {
		this.#res = res;
		this.#client = client;
		this.#commits = commits;
		this.#deployment = deployment;
		this.#question = { id: newId('msg'), role: 'user', content };
	}

	/** Commits the question. @param stored is called when it is on disk */
	begin(stored: () => void): void {
		const now = Date.now();
		const [conversation, question, reply] = [this.#conversation, this.#question, this.#reply];
		const commit = {
			conversation: [conversation, this.#deployment, null, 2, now, now],
			messages: [
				[question.id, conversation, 1, 'user', question.content, now, now],
				[reply, conversation, 2, 'assistant', '', now, null],
			],
			events: [
				eventRow('workspace', 'conversation.created', { id: conversation, deployment_id: this.#deployment }, now),
				eventRow('workspace', 'message.created', { conversation_id: conversation, ...question }, now),
				eventRow(conversation, 'message.created', { message_id: question.id }, now),
				eventRow(conversation, 'message.created', { message_id: reply, text: 'opens' }, now),
			],
		};
		this.#pending =
			sse('message.created', { message: question }) +
			sse('message.created', { message: { id: reply, role: 'assistant', content: '' } });
		this.#commits.add(commit, () => {
			this.#isStored = true;
			this.#send(this.#pending);
			stored();
			if (this.#hasEnded) this.#complete();
		});
	}

	text(delta: string): void {
		const index = this.#content.length;
		this.#content += delta;
		const event = sse('message.delta', { message_id: this.#reply, index, delta });
		if (this.#isStored) this.#send(event);
		else this.#pending += event;
	}

	end(): void {
		this.#hasEnded = true;
		if (this.#isStored) this.#complete();
	}

	/** Commits the reply, and ends the stream. */
	#complete(): void {
		const now = Date.now();
		const [conversation, id, content] = [this.#conversation, this.#reply, this.#content];
		const commit = {
			endedReply: [content, now, id],
			endedConversation: [content.slice(0, 60), now, conversation],
			events: [
				eventRow(
					'workspace',
					'message.created',
					{ conversation_id: conversation, id, role: 'assistant', content },
					now,
				),
				eventRow('workspace', 'conversation.updated', { id: conversation, title: content.slice(0, 60) }, now),
				eventRow(conversation, 'message.completed', { message_id: id, text: 'closes' }, now),
			],
		};
		this.#commits.add(commit, () => {
			const text = sse('message.completed', { message: { id, role: 'assistant', content } });
			if (!this.#client.isGone) this.#res.cork(() => this.#res.end(text));
		});
	}

	#send(text: string): void {
		if (this.#client.isGone) return;
		this.#res.cork(() => {
			if (!this.#isOpen)
				this.#res.writeHeader('content-type', 'text/event-stream').writeHeader('cache-control', 'no-store');
			this.#isOpen = true;
			this.#res.write(text);
		});
	}
}

/** Whether a client has closed its connection. Then nothing may be written. */
interface Client {
	isGone: boolean;
}

function readJson<T>(res: uWS.HttpResponse, take: (body: T, client: Client) => void): void {
	const client: Client = { isGone: false };
	let body = '';
	res.onAborted(() => {
		client.isGone = true;
	});
	res.onData((chunk, isLast) => {
		body += Buffer.from(chunk).toString();
		if (isLast) take(JSON.parse(body), client);
	});
}

function endJson(res: uWS.HttpResponse, body: object): void {
	res.cork(() =>
		res.writeStatus('201 Created').writeHeader('content-type', 'application/json').end(JSON.stringify(body)),
	);
}

function sse(event: string, data: object): string {
	return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A row of the event log. */
function eventRow(stream: string, type: string, data: object, now: number): Array<string | number> {
	return [newId('evt'), stream, type, JSON.stringify(data), now];
}

function newId(kind: string): string {
	return `${kind}_${randomUUID()}`;
}
