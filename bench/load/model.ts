import * as uWS from 'uWebSockets.js';
import { takeOrders } from './load-process.ts';
import { type ModelScript, monotonicMs, scriptOf, TOKEN_END } from './model-script.ts';

/**
 * A scripted model as a process of its own: chat completions as server-sent events, as lean as can be, so that what a bench
 * measures is the server's. The model's name says how it speaks (model-script.ts).
 *
 * Where it is late it says all tokens that are due at once: its pace holds as long as its caller's does.
 */

/** Told by the parent process. */
export type ModelOrder = { listen: true };
export interface ModelReady {
	port: number;
}

const frame = (content: object) =>
	`data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'scripted', ...content })}\n\n`;
const said = (content: string, role: object = {}) =>
	frame({ choices: [{ index: 0, delta: { ...role, content }, finish_reason: null }] });

const TOKEN = said(` word${TOKEN_END}`);
const END = [
	frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
	frame({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 } }),
	'data: [DONE]\n\n',
].join('');

/** One answer, from the moment at which it was asked for. */
class Speech {
	readonly #res: uWS.HttpResponse;
	readonly #script: ModelScript;
	readonly #askedAt = monotonicMs();
	#said = 0;
	#timer: NodeJS.Timeout | undefined;
	#gone = false;

	constructor(res: uWS.HttpResponse, script: ModelScript) {
		this.#res = res;
		this.#script = script;
		if (script.firstMs === 0) this.#speak();
		else this.#timer = setTimeout(() => this.#speak(), script.firstMs);
	}

	leave(): void {
		this.#gone = true;
		clearTimeout(this.#timer);
	}

	#speak(): void {
		if (this.#gone) return;
		const { firstMs, everyMs, tokens } = this.#script;
		const now = monotonicMs();
		const since = now - this.#askedAt - firstMs;
		const due = everyMs === 0 ? tokens : Math.max(1, Math.min(tokens, 1 + Math.floor(since / everyMs)));
		const fresh = due - this.#said;
		const first = this.#said === 0;
		this.#said = due;
		if (fresh > 0) {
			this.#res.cork(() => {
				if (first) this.#res.writeHeader('content-type', 'text/event-stream');
				const text = first ? this.#first(now) + TOKEN.repeat(fresh - 1) : TOKEN.repeat(fresh);
				if (due < tokens) this.#res.write(text);
				else this.#res.end(text + END);
			});
		}
		if (due < tokens) this.#timer = setTimeout(() => this.#speak(), Math.max(1, everyMs * due - since));
	}

	#first(now: number): string {
		const times = `@${this.#askedAt.toFixed(3)}/${now.toFixed(3)}${TOKEN_END}`;
		return said('', { role: 'assistant' }) + said(times);
	}
}

function answer(res: uWS.HttpResponse): void {
	let body = '';
	let speech: Speech | undefined;
	let gone = false;
	res.onAborted(() => {
		gone = true;
		speech?.leave();
	});
	res.onData((chunk, isLast) => {
		body += Buffer.from(chunk).toString('latin1');
		if (!isLast || gone) return;
		const model = /"model":"([^"]+)"/.exec(body)?.[1] ?? '';
		speech = new Speech(res, scriptOf(model));
	});
}

function listen(): Promise<ModelReady> {
	return new Promise((resolve, reject) => {
		uWS
			.App()
			.post('/v1/chat/completions', answer)
			.listen('127.0.0.1', 0, (socket) => {
				if (socket) resolve({ port: uWS.us_socket_local_port(socket) });
				else reject(new Error('The scripted model cannot listen.'));
			});
	});
}

takeOrders((_: ModelOrder) => listen());
