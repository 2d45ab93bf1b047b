import * as uWS from 'uWebSockets.js';
import { serveCommands } from './load-process.ts';
import { type ModelScript, monotonicMs, scriptOf, TOKEN_END } from './model-script.ts';

/**
 * A scripted model as a separate process: chat completions as server-sent events, with as little work as possible, so that a bench
 * measures the server. The model's name sets its timing (model-script.ts).
 *
 * If it is late, it sends all tokens that are due at once, so that its average pace stays the same.
 */

/** A command of the parent process. */
export type ModelCommand = { listen: true };
export interface ModelReady {
	port: number;
}

const frame = (content: object) =>
	`data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'scripted', ...content })}\n\n`;
const contentFrame = (content: string, role: object = {}) =>
	frame({ choices: [{ index: 0, delta: { ...role, content }, finish_reason: null }] });

const TOKEN = contentFrame(` word${TOKEN_END}`);
const END = [
	frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
	frame({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 } }),
	'data: [DONE]\n\n',
].join('');

/** An answer, from the arrival of its request. */
class ScriptedStream {
	readonly #res: uWS.HttpResponse;
	readonly #script: ModelScript;
	readonly #askedAt = monotonicMs();
	#tokensSent = 0;
	#timer: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(res: uWS.HttpResponse, script: ModelScript) {
		this.#res = res;
		this.#script = script;
		if (script.firstTokenMs === 0) this.#sendDueTokens();
		else this.#timer = setTimeout(() => this.#sendDueTokens(), script.firstTokenMs);
	}

	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#timer);
	}

	#sendDueTokens(): void {
		if (this.#isClosed) return;
		const { firstTokenMs, tokenIntervalMs, tokens } = this.#script;
		const now = monotonicMs();
		const since = now - this.#askedAt - firstTokenMs;
		const due = tokenIntervalMs === 0 ? tokens : Math.max(1, Math.min(tokens, 1 + Math.floor(since / tokenIntervalMs)));
		const fresh = due - this.#tokensSent;
		const first = this.#tokensSent === 0;
		this.#tokensSent = due;
		if (fresh > 0) {
			this.#res.cork(() => {
				if (first) this.#res.writeHeader('content-type', 'text/event-stream');
				const text = first ? this.#first(now) + TOKEN.repeat(fresh - 1) : TOKEN.repeat(fresh);
				// Chunked even if all is sent at once, as models do.
				this.#res.write(text);
				if (due === tokens) this.#res.end(END);
			});
		}
		if (due < tokens) this.#timer = setTimeout(() => this.#sendDueTokens(), Math.max(1, tokenIntervalMs * due - since));
	}

	#first(now: number): string {
		const times = `@${this.#askedAt.toFixed(3)}/${now.toFixed(3)}${TOKEN_END}`;
		return contentFrame('', { role: 'assistant' }) + contentFrame(times);
	}
}

function handleRequest(res: uWS.HttpResponse): void {
	let body = '';
	let speech: ScriptedStream | undefined;
	let gone = false;
	res.onAborted(() => {
		gone = true;
		speech?.close();
	});
	res.onData((chunk, isLast) => {
		body += Buffer.from(chunk).toString('latin1');
		if (!isLast || gone) return;
		const model = /"model":"([^"]+)"/.exec(body)?.[1] ?? '';
		speech = new ScriptedStream(res, scriptOf(model));
	});
}

function listen(): Promise<ModelReady> {
	return new Promise((resolve, reject) => {
		uWS
			.App()
			.post('/v1/chat/completions', handleRequest)
			.listen('127.0.0.1', 0, (socket) => {
				if (socket) resolve({ port: uWS.us_socket_local_port(socket) });
				else reject(new Error('The scripted model cannot listen.'));
			});
	});
}

serveCommands((_: ModelCommand) => listen());
