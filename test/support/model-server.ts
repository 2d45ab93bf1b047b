import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Deferred, deferred, withDeadline } from '../../src/base/index.ts';
import type { ProviderSettings } from '../../src/models/index.ts';
import { anthropicFrames } from './model-server/anthropic-frames.ts';
import { chatCompletionsFrames } from './model-server/chat-completions-frames.ts';
import { type EmbeddingsCall, StandInEmbeddings } from './model-server/embeddings.ts';
import type { Frames, ModelScript, ModelStep } from './model-server/script.ts';

export type { ModelScript, ModelStep } from './model-server/script.ts';

/** A request that the stand-in was sent. */
export interface ModelCall {
	path: string;
	headers: IncomingHttpHeaders;
	// biome-ignore lint/suspicious/noExplicitAny: tests look into requests of both protocols
	body: any;
	/** Milliseconds of `performance.now()` at which it had arrived. */
	at: number;
	/** Resolves when the connection's exchange is over: true where the caller left before the end. */
	callerLeft: Promise<boolean>;
}

/** What the stand-in answers: the same always, or as the call says. */
export type ModelBehaviour = ModelScript | ((call: ModelCall) => ModelScript);

const DEFAULT_SCRIPT: ModelScript = [{ say: 'Hello.' }];
const DEADLINE_MS = 120_000;

/**
 * A stand-in for a provider of chat models: a real HTTP server that speaks the chat-completions protocol at
 * `/v1/chat/completions` and the Anthropic messages protocol at `/v1/messages`, streamed, as scripts tell it. Lists its
 * models at `/v1/models`.
 */
export class ModelServer implements AsyncDisposable {
	readonly origin: string;
	readonly calls: ModelCall[] = [];
	/** Answers at `/v1/embeddings`; its calls and its faults are its own. */
	readonly embeddings = new StandInEmbeddings();
	/** Connections that it has seen. */
	connections = 0;
	readonly #server: Server;
	readonly #sockets = new Set<Socket>();
	readonly #queued: ModelBehaviour[] = [];
	#default: ModelBehaviour = DEFAULT_SCRIPT;
	#arrived: Deferred<void> = deferred();

	private constructor(server: Server) {
		this.#server = server;
		this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		server.on('connection', (socket) => {
			this.connections++;
			this.#sockets.add(socket);
			socket.setNoDelay(true);
			socket.on('error', () => {});
			socket.on('close', () => this.#sockets.delete(socket));
		});
	}

	static async start(): Promise<ModelServer> {
		const server = createServer();
		server.listen(0, '127.0.0.1', 4_096);
		await once(server, 'listening');
		const stand = new ModelServer(server);
		server.on('request', (request, response) => {
			const chunks: Buffer[] = [];
			request.on('data', (chunk: Buffer) => chunks.push(chunk));
			request.on('end', () => {
				const text = Buffer.concat(chunks).toString();
				const body = text === '' ? null : JSON.parse(text);
				void stand.#respond(request.url ?? '', request.headers, body, response);
			});
		});
		return stand;
	}

	/** What stands before `/chat/completions` and `/messages`. */
	get baseUrl(): string {
		return `${this.origin}/v1`;
	}

	/** Answers the next calls like this, one after the other; then as always. */
	enqueue(...behaviours: ModelBehaviour[]): void {
		this.#queued.push(...behaviours);
	}

	/** Answers every call like this for which there is no `next` one. */
	setDefault(behaviour: ModelBehaviour): void {
		this.#default = behaviour;
	}

	/** The n-th call, from 0, as soon as it has arrived. */
	async call(index: number): Promise<ModelCall> {
		for (;;) {
			const call = this.calls[index];
			if (call) return call;
			await withDeadline(
				this.#arrived.promise,
				DEADLINE_MS,
				() => new Error(`The model was not asked ${index + 1} times.`),
			);
		}
	}

	/** Settings of a provider that is this server. */
	provider(more: Partial<ProviderSettings> = {}): ProviderSettings {
		return {
			id: 'stand-in',
			type: 'openai-compatible',
			base_url: this.baseUrl,
			api_key: 'sk-stand-in-0123456789abcdef',
			models: null,
			context_tokens: 32_000,
			max_output_tokens: null,
			first_token_timeout_ms: 20_000,
			idle_timeout_ms: 20_000,
			temperature: null,
			prices: new Map(),
			...more,
		};
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const socket of this.#sockets) socket.destroy();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	async #respond(path: string, headers: IncomingHttpHeaders, body: unknown, response: ServerResponse): Promise<void> {
		if (path === '/v1/models') {
			response.writeHead(200, { 'content-type': 'application/json' });
			response.end(JSON.stringify({ object: 'list', data: [{ id: 'small', object: 'model' }] }));
			return;
		}
		if (path === '/v1/embeddings') return this.embeddings.respond(headers, body as EmbeddingsCall['body'], response);
		const protocol = { '/v1/chat/completions': chatCompletionsFrames, '/v1/messages': anthropicFrames }[path];
		if (protocol === undefined) {
			response.writeHead(404).end();
			return;
		}
		const gone = new AbortController();
		const callerLeft = new Promise<boolean>((resolve) => {
			response.on('close', () => {
				gone.abort();
				resolve(!response.writableFinished);
			});
		});
		const call: ModelCall = { path, headers, body, at: performance.now(), callerLeft };
		this.calls.push(call);
		this.#arrived.resolve();
		this.#arrived = deferred();
		const behaviour = this.#queued.shift() ?? this.#default;
		await runScript(typeof behaviour === 'function' ? behaviour(call) : behaviour, protocol(), response, gone.signal);
	}
}

/** Carries out a script. Ends early where the caller leaves. */
async function runScript(
	script: ModelScript,
	frames: Frames,
	response: ServerResponse,
	gone: AbortSignal,
): Promise<void> {
	const write = async (text: string | Uint8Array) => {
		if (text.length === 0 || gone.aborted) return;
		if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
		if (!response.write(text)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
	};
	for (const step of script) {
		if (gone.aborted) return;
		if ('status' in step) {
			response.writeHead(step.status, { 'content-type': 'application/json', ...step.headers });
			response.end(step.body ?? '');
			return;
		}
		if ('pause' in step) await new Promise((resolve) => setTimeout(resolve, step.pause));
		else if ('wait' in step) await Promise.race([step.wait, gone.aborted ? null : once(gone, 'abort')]);
		else if ('raw' in step) await write(step.raw);
		else if ('end' in step) {
			if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
			return void response.end();
		} else if ('die' in step) {
			// What was written before is to arrive before the connection goes.
			await new Promise((resolve) => setImmediate(resolve));
			return void response.socket?.destroySoon();
		} else if ('reset' in step) return void response.socket?.resetAndDestroy();
		else if ('hang' in step) return;
		else await write(isFrame(step) ? frames.of(step) : '');
		if ('finish' in step) return void response.end();
	}
	await write(frames.of({ finish: script.some((step) => 'call' in step) ? 'tool_calls' : 'stop' }));
	response.end();
}

type FrameStep = Parameters<Frames['of']>[0];

function isFrame(step: ModelStep): step is FrameStep {
	return ['say', 'think', 'call', 'error', 'finish'].some((kind) => kind in step);
}
