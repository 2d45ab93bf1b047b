import { AppError, type Clock, Gate, type Log } from '../../base/index.ts';
import type { Endpoint } from '../../net/index.ts';
import { CallEnding } from '../providers/call-ending.ts';
import { CircuitBreaker } from '../providers/circuit-breaker.ts';
import { failure, failureOf, ProviderError } from '../providers/failure.ts';
import { delayBefore, type Patience } from '../providers/retry.ts';
import { limitsOf, type ProviderSettings } from '../providers/settings.ts';
import { firstTokens } from '../providers/tokens.ts';
import { batchesOf } from './batches.ts';
import type { Embedder } from './embedder.ts';
import type { EmbedderName } from './embedder-id.ts';
import { meanCosine, UNRELATED } from './floor.ts';
import { readVectors } from './vectors.ts';

export interface ProviderEmbedderOptions {
	id: string;
	/** The same in its parts. */
	name: EmbedderName;
	settings: ProviderSettings;
	endpoint: Pick<Endpoint, 'fetch'>;
	clock: Clock;
	log: Log;
	/** From 0 to 1, as Math.random. */
	random: () => number;
}

/** Requests for documents that are under way at the same time; questions do not wait behind them. */
const SIDE_BY_SIDE = 4;
/** Batches that may wait: those of more documents than are ever in work at once. */
const WAITING = 1_000;
/** Tokens of a text at most, whatever the model takes of a conversation: so many the embedding models of today read. */
const MOST_TOKENS = 8_000;
/** Documents can wait: a limit of requests a minute has passed by then. */
const DOCUMENTS: Patience = { attempts: 6, longestDelayMs: 60_000 };
/** A question cannot: all of it, with its second attempt, is over within `QUESTION_MS`. */
const QUESTION: Patience = { attempts: 2, longestDelayMs: 500 };
const QUESTION_MS = 3_000;

/**
 * The embedder of one model of a provider that speaks OpenAI's embeddings protocol. It speaks it itself: the provider
 * library gives vectors in the order in which they come, and which text each belongs to is told by their numbers alone.
 */
export class ProviderEmbedder implements Embedder {
	readonly id: string;
	readonly #options: ProviderEmbedderOptions;
	readonly #breaker: CircuitBreaker;
	readonly #gate = new Gate(SIDE_BY_SIDE, WAITING);
	/** Once an answer has told; the settings may say so before. */
	#dimensions: number | null;
	#floor: number | undefined;

	constructor(options: ProviderEmbedderOptions) {
		const { id, name, clock, log } = options;
		this.#options = options;
		this.id = id;
		this.#dimensions = name.dimensions;
		this.#breaker = new CircuitBreaker(clock, (state) => {
			log.warn({ embedder: this.id, circuit: state }, 'the circuit of an embeddings provider has changed');
		});
	}

	async embedDocuments(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
		const givenUp = new AbortController();
		const either = AbortSignal.any([signal, givenUp.signal]);
		const batches = batchesOf(texts.map(this.#cut), this.#dimensions);
		const asked: Promise<Float32Array[]>[] = [];
		const ask = (batch: string[]) => asked.push(this.#gate.run(() => this.#documents(batch, either), either));
		try {
			// A provider that has failed lets one try: the others must not be turned away, and take that one with them.
			if (this.#breaker.state !== 'closed') {
				batches.splice(0, 1).forEach(ask);
				await asked[0];
			}
			batches.forEach(ask);
			const vectors = (await Promise.all(asked)).flat();
			requireSameLength(vectors);
			return vectors;
		} catch (thrown) {
			// What the other batches would bring is of no use to anybody.
			givenUp.abort(thrown);
			await Promise.allSettled(asked);
			throw signal.aborted ? signal.reason : thrown;
		}
	}

	async embedQuestion(text: string, signal: AbortSignal): Promise<Float32Array> {
		const ms = Math.min(QUESTION_MS, this.#options.settings.first_token_timeout_ms);
		const [vector] = await this.#call([this.#cut(text)], signal, QUESTION, ms, 'in all');
		return vector as Float32Array;
	}

	async floor(signal: AbortSignal): Promise<number> {
		this.#floor ??= meanCosine(await this.embedDocuments(UNRELATED, signal));
		return this.#floor;
	}

	#documents(batch: string[], signal: AbortSignal): Promise<Float32Array[]> {
		return this.#call(batch, signal, DOCUMENTS, this.#options.settings.first_token_timeout_ms, 'an attempt');
	}

	/** Asks for one batch, as often as there is patience. */
	async #call(
		texts: string[],
		signal: AbortSignal,
		patience: Patience,
		ms: number,
		deadline: 'an attempt' | 'in all',
	): Promise<Float32Array[]> {
		signal.throwIfAborted();
		const permit = this.#breaker.enter();
		if (permit === null) throw leftAlone();
		using ending = new CallEnding(signal);
		// It may well answer in time when it has less to do: whoever can wait longer tries again.
		const late = () =>
			failure(`The embeddings provider did not answer within ${ms / 1_000} seconds.`, { passing: true });
		ending.within(ms, late);
		try {
			for (let attempt = 1; ; attempt++) {
				try {
					const vectors = await ending.orEnd(this.#ask(texts, ending.nextAttempt()));
					permit.succeeded();
					return vectors;
				} catch (thrown) {
					ending.throwIfEnded();
					const failed = this.#failureOf(thrown);
					const delay = delayBefore(attempt, failed, this.#options.random(), patience);
					if (delay === null) throw thrown;
					const { status, detail } = failed;
					this.#options.log.info({ embedder: this.id, attempt, status, detail }, 'asking an embedder again');
					if (deadline === 'an attempt') ending.within(delay + ms, late);
					await ending.pause(delay);
				}
			}
		} catch (thrown) {
			if (signal.aborted) throw signal.reason;
			const failed = this.#failureOf(thrown);
			if (failed.unhealthy) permit.failed();
			else permit.succeeded();
			const { status, detail } = failed;
			this.#options.log.warn({ embedder: this.id, status, detail }, 'an embeddings provider failed');
			throw new AppError('model_error', failed.sentence, { cause: new ProviderError(failed) });
		} finally {
			permit.abandoned();
		}
	}

	async #ask(texts: string[], signal: AbortSignal): Promise<Float32Array[]> {
		const { name, settings, endpoint } = this.#options;
		const response = await endpoint.fetch(`${settings.base_url}/embeddings`, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				...(settings.api_key === null ? {} : { authorization: `Bearer ${settings.api_key}` }),
			},
			body: JSON.stringify({
				model: name.model,
				input: texts,
				encoding_format: 'float',
				...(name.dimensions === null ? {} : { dimensions: name.dimensions }),
			}),
			signal,
		});
		const body = await response.text();
		if (!response.ok) {
			const responseHeaders = Object.fromEntries(response.headers);
			throw Object.assign(new Error(body), { statusCode: response.status, responseHeaders });
		}
		const vectors = readVectors(body, texts.length, name.dimensions);
		this.#dimensions = vectors[0]?.length ?? this.#dimensions;
		return vectors;
	}

	readonly #cut = (text: string): string => {
		const { name, settings } = this.#options;
		return firstTokens(text, Math.min(MOST_TOKENS, limitsOf(settings, name.model).context_tokens));
	};

	#failureOf(thrown: unknown) {
		const { clock, settings } = this.#options;
		return failureOf(thrown, clock.now(), settings.api_key);
	}
}

function requireSameLength(vectors: readonly Float32Array[]): void {
	const [first, other] = new Set(vectors.map(({ length }) => length));
	if (other === undefined) return;
	const failed = failure(`The embeddings provider sent vectors of ${first} and of ${other} values.`);
	throw new AppError('model_error', failed.message, { cause: failed });
}

function leftAlone(): AppError {
	const failed = failure(
		'The embeddings provider has failed several times in a row and is left alone for a while. Try again later.',
		{ passing: true },
	);
	return new AppError('model_error', failed.message, { cause: failed });
}
