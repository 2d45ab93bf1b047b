import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { type Deferred, deferred, withDeadline } from '../../../src/base/index.ts';

/** A request for vectors that the stand-in was sent. */
export interface EmbeddingsCall {
	headers: IncomingHttpHeaders;
	body: { model: string; input: string[]; encoding_format?: string; dimensions?: number };
	/** Milliseconds of `performance.now()` at which it had arrived. */
	at: number;
	/** Resolves when the exchange is over: true where the caller left before the end. */
	callerLeft: Promise<boolean>;
}

/** What a stand-in does instead of an answer in good order. */
export type EmbeddingsFault =
	/** An answer with another status. */
	| { status: number; headers?: Record<string, string>; body?: string }
	/** Changes the items of an answer in good order before they are sent. */
	| { items(items: EmbeddingItem[]): unknown[] }
	/** Sends this as the body. */
	| { raw: string }
	/** Closes the connection in the middle of the answer. */
	| { die: true }
	/** Says nothing and keeps the connection. */
	| { hang: true }
	/** Sends a body of so many bytes, all of one line. */
	| { huge: number }
	/** Answers when this has resolved: in good order, or with this fault. */
	| { wait: Promise<unknown>; fault?: EmbeddingsFault };

/** What is done to a call: a fault, or nothing where it is undefined. */
export type EmbeddingsBehaviour = EmbeddingsFault | undefined | ((call: EmbeddingsCall) => EmbeddingsFault | undefined);

export interface EmbeddingItem {
	object: 'embedding';
	index: number;
	embedding: number[];
}

const DEADLINE_MS = 120_000;

/**
 * The part of the stand-in that speaks the embeddings protocol. A text's vector is made of its words: each points somewhere,
 * always the same way for the same model, and words that were said to mean the same point the same way.
 */
export class StandInEmbeddings {
	readonly calls: EmbeddingsCall[] = [];
	/** Values of a vector where the call asks for no number of them, by the model's name. */
	dimensions: (model: string) => number = () => 64;
	/** Lower-case words, each with the word of the same meaning. */
	synonyms: ReadonlyMap<string, string> = new Map();
	/** What all vectors have in common, from 0 (nothing) on: real models differ in it. */
	sharedComponent = 0;
	/** By model and word. */
	readonly #hashes = new Map<string, Buffer>();
	readonly #queued: EmbeddingsBehaviour[] = [];
	#default: EmbeddingsBehaviour;
	#arrived: Deferred<void> = deferred();

	/** Does this to the next calls, one after the other; then what is always done. */
	enqueue(...behaviours: EmbeddingsBehaviour[]): void {
		this.#queued.push(...behaviours);
	}

	/** Does this to every call for which there is no `next`. */
	setDefault(behaviour: EmbeddingsBehaviour): void {
		this.#default = behaviour;
	}

	/** The n-th call, from 0, as soon as it has arrived. */
	async call(index: number): Promise<EmbeddingsCall> {
		for (;;) {
			const call = this.calls[index];
			if (call) return call;
			const late = () => new Error(`No vectors were asked for ${index + 1} times.`);
			await withDeadline(this.#arrived.promise, DEADLINE_MS, late);
		}
	}

	/** Every text that was sent, in order of arrival. */
	get texts(): string[] {
		return this.calls.flatMap(({ body }) => body.input);
	}

	/** The vector of a text, not brought to any length. */
	vector(model: string, text: string, dimensions = this.dimensions(model)): number[] {
		const sum = Array.from({ length: dimensions }, () => this.sharedComponent);
		for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
			const meant = this.synonyms.get(word) ?? word;
			const hash = this.#hashOf(`${model} ${meant}`);
			for (let at = 0; at < 4; at++) {
				const index = hash.readUInt16LE(at * 2) % dimensions;
				sum[index] = (sum[index] as number) + (hash.readUInt8(16 + at) % 2 === 0 ? 1 : -1);
			}
		}
		if (!sum.some((value) => value !== 0)) sum[0] = 1;
		return sum;
	}

	#hashOf(word: string): Buffer {
		let hash = this.#hashes.get(word);
		if (hash === undefined) {
			hash = createHash('sha256').update(word).digest();
			this.#hashes.set(word, hash);
		}
		return hash;
	}

	/** Answers one request; the server hands them here. */
	async respond(headers: IncomingHttpHeaders, body: EmbeddingsCall['body'], response: ServerResponse): Promise<void> {
		const callerLeft = new Promise<boolean>((resolve) => {
			response.on('close', () => resolve(!response.writableFinished));
		});
		const call: EmbeddingsCall = { headers, body, at: performance.now(), callerLeft };
		this.calls.push(call);
		this.#arrived.resolve();
		this.#arrived = deferred();
		const answer = this.#queued.length > 0 ? this.#queued.shift() : this.#default;
		const fault = typeof answer === 'function' ? answer(call) : answer;
		if (fault && 'wait' in fault) {
			await Promise.race([fault.wait, callerLeft]);
			return this.#send(call, fault.fault, response);
		}
		await this.#send(call, fault, response);
	}

	async #send({ body }: EmbeddingsCall, fault: EmbeddingsFault | undefined, response: ServerResponse): Promise<void> {
		const json = { 'content-type': 'application/json' };
		if (fault && 'hang' in fault) return;
		if (fault && 'status' in fault) {
			response.writeHead(fault.status, { ...json, ...fault.headers });
			return void response.end(fault.body ?? JSON.stringify({ error: { message: `status ${fault.status}` } }));
		}
		const data: EmbeddingItem[] = body.input.map((text, index) => ({
			object: 'embedding',
			index,
			embedding: this.vector(body.model, text, body.dimensions),
		}));
		const items = fault && 'items' in fault ? fault.items(data) : data;
		const usage = { prompt_tokens: body.input.length, total_tokens: body.input.length };
		const text = JSON.stringify({ object: 'list', data: items, model: body.model, usage });
		response.writeHead(200, json);
		if (fault && 'raw' in fault) return void response.end(fault.raw);
		if (fault && 'die' in fault) {
			response.write(text.slice(0, text.length / 2));
			await new Promise((resolve) => setImmediate(resolve));
			return void response.socket?.destroySoon();
		}
		if (fault && 'huge' in fault) {
			for (let sent = 0; sent < fault.huge && !response.destroyed; sent += 65_536) {
				if (!response.write(' '.repeat(65_536))) await Promise.race([once(response, 'drain'), once(response, 'close')]);
			}
		}
		response.end(text);
	}
}
