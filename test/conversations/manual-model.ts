import { type Deferred, deferred } from '../../src/base/index.ts';
import type { ChatProvider, ChatRequest, ModelEvent, ModelPrice, ModelUsage } from '../../src/models/index.ts';
import { streamFrom } from '../support/model-events.ts';

/** A reply whose events come from a test. */
export interface ManualReply {
	request: ChatRequest;
	/** Aborts when the reply is stopped or times out, or its server shuts down. */
	signal: AbortSignal;
	say(text: string): void;
	end(): void;
	fail(error: Error): void;
	/** Reports the tokens of the reply. */
	report(input_tokens: number, output_tokens: number): void;
}

export interface ManualModelOptions {
	/** Returns the pieces of the reply; undefined: the reply waits for the test. */
	autoReply?: (request: ChatRequest) => readonly string[] | undefined;
	/** Ignores its signal, as a defective provider might. */
	ignoresAbort?: boolean;
	/** The price of every model; none by default. */
	price?: ModelPrice;
}

/** Only a test that fails takes so long. */
const DEADLINE_MS = 120_000;

/** A fake model, `scripted/any`: each reply waits for the events of the test. */
export class ManualModel {
	readonly provider: ChatProvider;
	readonly replies: ManualReply[] = [];
	#arrived: Deferred<void> = deferred();

	constructor({ autoReply, ignoresAbort = false, price }: ManualModelOptions = {}) {
		this.provider = {
			id: 'scripted',
			models: null,
			priceOf: () => price ?? null,
			chat: {
				stream: streamFrom((request, signal) => this.#stream(request, signal, autoReply?.(request), ignoresAbort)),
			},
		};
	}

	/**
	 * The n-th reply that was requested from this model, counted from 0.
	 * @throws after two minutes without that request
	 */
	async reply(index: number): Promise<ManualReply> {
		for (const deadline = performance.now() + DEADLINE_MS; ; ) {
			const reply = this.replies[index];
			if (reply) return reply;
			let timer: NodeJS.Timeout | undefined;
			const timeout = new Promise<void>((resolve) => {
				timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
			});
			await Promise.race([this.#arrived.promise, timeout]).finally(() => clearTimeout(timer));
			if (!this.replies[index] && performance.now() >= deadline) {
				throw new Error(`Waited ${DEADLINE_MS / 1000} s for reply ${index}. ${this.replies.length} were requested.`);
			}
		}
	}

	async *#stream(
		request: ChatRequest,
		signal: AbortSignal,
		pieces: readonly string[] | undefined,
		ignoresAbort: boolean,
	): AsyncIterable<ModelEvent> {
		const waiting: Array<string | Error | ModelUsage | null> = [];
		let wake: Deferred<void> = deferred();
		const put = (item: string | Error | ModelUsage | null) => {
			waiting.push(item);
			wake.resolve();
		};
		if (!ignoresAbort) signal.addEventListener('abort', () => wake.resolve());
		for (const piece of pieces ?? []) put(piece);
		if (pieces) put(null);
		this.replies.push({
			request,
			signal,
			say: put,
			end: () => put(null),
			fail: put,
			report: (input_tokens, output_tokens) => put({ type: 'usage', input_tokens, output_tokens }),
		});
		this.#arrived.resolve();
		this.#arrived = deferred();
		for (;;) {
			if (signal.aborted && !ignoresAbort) throw signal.reason;
			const item = waiting.shift();
			if (item === null) return;
			if (item instanceof Error) throw item;
			if (item === undefined) {
				wake = deferred();
				await wake.promise;
			} else if (typeof item === 'object') {
				yield item;
			} else {
				yield { type: 'delta', text: item };
			}
		}
	}
}
