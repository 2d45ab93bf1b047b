import { AppError, type Clock, type Log, Semaphore, sleep } from '../../base/index.ts';
import type { ServiceClient } from '../../net/index.ts';
import { CallEnding } from '../providers/call-ending.ts';
import { CircuitBreaker } from '../providers/circuit-breaker.ts';
import { failure, failureOf, ProviderError } from '../providers/failure.ts';
import { delayBefore, type Patience } from '../providers/retry.ts';
import { limitsOf, type ProviderSettings } from '../providers/settings.ts';
import { firstTokens } from '../providers/tokens.ts';
import { asTheyCome, type Ending } from './as-they-come.ts';
import { type Batch, batchesOf } from './batches.ts';
import type { EmbeddedBatch, Embedder } from './embedder.ts';
import type { EmbedderName } from './embedder-id.ts';
import { meanCosine, SAMPLE, UNRELATED } from './floor.ts';
import { readVectors } from './vectors.ts';

export interface ProviderEmbedderOptions {
	id: string;
	/** The same in its parts. */
	name: EmbedderName;
	settings: ProviderSettings;
	endpoint: Pick<ServiceClient, 'fetch'>;
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

/** On which a call is made. */
interface Terms {
	breaker: CircuitBreaker;
	patience: Patience;
	/** Milliseconds until it is late. */
	ms: number;
	deadline: 'an attempt' | 'in all';
}

/**
 * The embedder of one model of a provider that speaks OpenAI's embeddings protocol. It speaks it itself: the provider
 * library gives vectors in the order in which they come, and which text each belongs to is told by their numbers alone.
 */
export class ProviderEmbedder implements Embedder {
	readonly id: string;
	readonly #options: ProviderEmbedderOptions;
	/**
	 * Two, because they have two deadlines: a provider that is too slow for questions may well be good for documents, and one
	 * that takes too long for a whole batch may well answer a question.
	 */
	readonly #documents: CircuitBreaker;
	readonly #questions: CircuitBreaker;
	readonly #gate = new Semaphore(SIDE_BY_SIDE, WAITING);
	/** Once an answer has told; the settings may say so before. */
	#dimensions: number | null;
	#floor: number | undefined;
	#sample: Float32Array | undefined;
	/** In a sentence. */
	#lastFailure = '';

	constructor(options: ProviderEmbedderOptions) {
		const { id, name, clock, log } = options;
		this.#options = options;
		this.id = id;
		this.#dimensions = name.dimensions;
		const breaker = (use: 'documents' | 'questions') =>
			new CircuitBreaker(clock, (state) => {
				log.warn({ embedder: id, use, circuit: state }, 'the circuit of an embeddings provider has changed');
			});
		this.#documents = breaker('documents');
		this.#questions = breaker('questions');
	}

	async *embedDocuments(texts: readonly string[], signal: AbortSignal): AsyncGenerator<EmbeddedBatch> {
		const batches = batchesOf(texts.map(this.#cut), this.#dimensions);
		// A provider that has failed lets one try: the others must not be turned away, and take that one with them.
		const room = () => (this.#documents.state === 'closed' ? SIDE_BY_SIDE : 1);
		let expected: number | undefined;
		const run = (batch: Batch, ending: Ending) => this.#batch(batch, ending);
		for await (const embedded of asTheyCome(batches, room, run, signal)) {
			const given = embedded.vectors[0]?.length;
			expected ??= given;
			if (given !== expected) throw ofTwoLengths(expected, given);
			yield embedded;
		}
	}

	async embedQuestion(text: string, signal: AbortSignal): Promise<Float32Array> {
		const ms = Math.min(QUESTION_MS, this.#options.settings.first_token_timeout_ms);
		const terms = { breaker: this.#questions, patience: QUESTION, ms, deadline: 'in all' } as const;
		// Nobody waits longer for the sample where it comes along.
		const besides = this.#sample === undefined ? [SAMPLE] : [];
		const [vector, sample] = await this.#call([this.#cut(text), ...besides], { signal }, terms);
		this.#sample ??= sample;
		return vector as Float32Array;
	}

	async floor(signal: AbortSignal): Promise<number> {
		if (this.#floor === undefined) {
			const vectors = await this.#all(UNRELATED, signal);
			this.#sample ??= vectors[UNRELATED.indexOf(SAMPLE)];
			this.#floor = meanCosine(vectors);
		}
		return this.#floor;
	}

	async sample(signal: AbortSignal): Promise<Float32Array> {
		const sample = this.#sample ?? ((await this.#all([SAMPLE], signal))[0] as Float32Array);
		this.#sample = sample;
		return sample;
	}

	forgetSample(): void {
		this.#sample = undefined;
	}

	/** The vectors of a few texts, in their order. */
	async #all(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
		const vectors: Float32Array[] = [];
		for await (const batch of this.embedDocuments(texts, signal)) {
			for (const [place, vector] of batch.vectors.entries()) vectors[batch.at + place] = vector;
		}
		return vectors;
	}

	async #batch({ at, texts }: Batch, ending: Ending): Promise<EmbeddedBatch> {
		const ms = this.#options.settings.first_token_timeout_ms;
		const terms = { breaker: this.#documents, patience: DOCUMENTS, ms, deadline: 'an attempt' } as const;
		const turn = AbortSignal.any([ending.signal, ending.lastOrders]);
		const vectors = await this.#gate.run(() => this.#call(texts, ending, terms), turn);
		return { at, vectors };
	}

	/** Asks for one batch, as often as there is patience. */
	async #call(
		texts: string[],
		{ signal, lastOrders }: Pick<Ending, 'signal'> & Partial<Ending>,
		{ breaker, patience, ms, deadline }: Terms,
	): Promise<Float32Array[]> {
		signal.throwIfAborted();
		const permit = breaker.enter();
		if (permit === null) throw leftAlone(this.#lastFailure);
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
					if (delay === null || lastOrders?.aborted) throw thrown;
					const { status, detail } = failed;
					this.#options.log.info({ embedder: this.id, attempt, status, detail }, 'asking an embedder again');
					if (deadline === 'an attempt') ending.within(delay + ms, late);
					await ending.orEnd(sleep(delay, lastOrders ? AbortSignal.any([signal, lastOrders]) : signal));
					if (lastOrders?.aborted) throw thrown;
				}
			}
		} catch (thrown) {
			if (signal.aborted) throw signal.reason;
			const failed = this.#failureOf(thrown);
			if (failed.unhealthy) permit.failed();
			else permit.succeeded();
			const { status, detail, sentence } = failed;
			this.#lastFailure = sentence;
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

function ofTwoLengths(one: number | undefined, other: number | undefined): AppError {
	const failed = failure(`The embeddings provider sent vectors of ${one} and of ${other} values.`);
	return new AppError('model_error', failed.message, { cause: failed });
}

/** @param last how it has failed last, in a sentence: that is what can be mended */
function leftAlone(last: string): AppError {
	const sentence = `${last} The embeddings provider has failed several times in a row and is left alone for a while.`;
	const failed = failure(sentence.trimStart(), { passing: true });
	return new AppError('model_error', failed.message, { cause: failed });
}
