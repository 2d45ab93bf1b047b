import { AppError, anySignal, type Clock, type Log, Semaphore, sleep } from '../../base/index.ts';
import type { ServiceClient } from '../../net/index.ts';
import { CallAbort } from '../providers/call-abort.ts';
import { CircuitBreaker } from '../providers/circuit-breaker.ts';
import { classifyFailure, ProviderError, providerError } from '../providers/provider-failure.ts';
import { nextRetryDelay, type RetryPolicy } from '../providers/retry.ts';
import { limitsOf, type ProviderSettings } from '../providers/settings.ts';
import { firstTokens } from '../providers/tokens.ts';
import { type Batch, batchesOf } from './batches.ts';
import { meanCosine, SAMPLE_TEXT, UNRELATED_TEXTS } from './cosine-floor.ts';
import type { EmbeddedBatch, Embedder } from './embedder.ts';
import type { EmbedderName } from './embedder-id.ts';
import { mapUnordered, type TaskSignals } from './map-unordered.ts';
import { readVectors } from './vectors.ts';

export interface ProviderEmbedderOptions {
	id: string;
	/** The parts of the id. */
	name: EmbedderName;
	settings: ProviderSettings;
	client: Pick<ServiceClient, 'fetch'>;
	clock: Clock;
	log: Log;
	/** From 0 to 1, as Math.random. */
	random: () => number;
}

/** Concurrent requests for documents. Questions do not wait for them. */
const MAX_CONCURRENT_REQUESTS = 4;
/** Batches that may wait. More documents than these are never processed at once. */
const MAX_WAITING_BATCHES = 1_000;
/** Tokens of one text at most. Current embedding models read so many, whatever the context of the provider's chat models. */
const MAX_TEXT_TOKENS = 8_000;
/** Documents can wait this long, which is enough for a limit of requests per minute to pass. */
const DOCUMENT_RETRY_POLICY: RetryPolicy = { maxAttempts: 6, maxDelayMs: 60_000 };
/** A question cannot wait. Both attempts together take at most `QUESTION_TIMEOUT_MS`. */
const QUESTION_RETRY_POLICY: RetryPolicy = { maxAttempts: 2, maxDelayMs: 500 };
const QUESTION_TIMEOUT_MS = 3_000;

/** The terms of a call. */
interface CallPolicy {
	breaker: CircuitBreaker;
	retryPolicy: RetryPolicy;
	/** The time limit of an attempt. */
	timeoutMs: number;
	timeoutScope: 'an attempt' | 'in all';
}

/**
 * The embedder of one model of a provider with OpenAI's embeddings protocol. Vectors may arrive in any order; only their
 * numbers show which text each belongs to, and libraries ignore them.
 */
export class ProviderEmbedder implements Embedder {
	readonly id: string;
	readonly #options: ProviderEmbedderOptions;
	/**
	 * One circuit breaker for each time limit: a provider that is too slow for questions may be fast enough for documents, and
	 * a provider that takes too long for a whole batch may be fast enough for a question.
	 */
	readonly #documentCircuit: CircuitBreaker;
	readonly #questionCircuit: CircuitBreaker;
	readonly #semaphore = new Semaphore(MAX_CONCURRENT_REQUESTS, MAX_WAITING_BATCHES);
	/** Known after the first response, or from the settings. */
	#dimensions: number | null;
	#floor: number | undefined;
	#sample: Float32Array | undefined;
	/** A sentence. */
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
		this.#documentCircuit = breaker('documents');
		this.#questionCircuit = breaker('questions');
	}

	async *embedDocuments(texts: readonly string[], signal: AbortSignal): AsyncGenerator<EmbeddedBatch> {
		const batches = batchesOf(texts.map(this.#truncate), this.#dimensions);
		// A half-open circuit permits one call. A second call would be refused, and its failure would end this iteration.
		const concurrencyLimit = () => (this.#documentCircuit.state === 'closed' ? MAX_CONCURRENT_REQUESTS : 1);
		let expected: number | undefined;
		const run = (batch: Batch, signals: TaskSignals) => this.#embedBatch(batch, signals);
		for await (const embedded of mapUnordered(batches, concurrencyLimit, run, signal)) {
			const dimensions = embedded.vectors[0]?.length;
			expected ??= dimensions;
			if (dimensions !== expected) throw mixedDimensionsError(expected, dimensions);
			yield embedded;
		}
	}

	async embedQuestion(text: string, signal: AbortSignal): Promise<Float32Array> {
		const timeoutMs = Math.min(QUESTION_TIMEOUT_MS, this.#options.settings.first_token_timeout_ms);
		const policy = {
			breaker: this.#questionCircuit,
			retryPolicy: QUESTION_RETRY_POLICY,
			timeoutMs,
			timeoutScope: 'in all',
		} as const;
		// The sample is added to this request, which takes no longer for it.
		const extraTexts = this.#sample === undefined ? [SAMPLE_TEXT] : [];
		const [vector, sample] = await this.#callWithRetries([this.#truncate(text), ...extraTexts], { signal }, policy);
		this.#sample ??= sample;
		return vector as Float32Array;
	}

	async floor(signal: AbortSignal): Promise<number> {
		if (this.#floor === undefined) {
			const vectors = await this.#embedAll(UNRELATED_TEXTS, signal);
			this.#sample ??= vectors[UNRELATED_TEXTS.indexOf(SAMPLE_TEXT)];
			this.#floor = meanCosine(vectors);
		}
		return this.#floor;
	}

	async sample(signal: AbortSignal): Promise<Float32Array> {
		const sample = this.#sample ?? ((await this.#embedAll([SAMPLE_TEXT], signal))[0] as Float32Array);
		this.#sample = sample;
		return sample;
	}

	forgetSample(): void {
		this.#sample = undefined;
	}

	/** The vectors of a few texts, in the order of the texts. */
	async #embedAll(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
		const vectors: Float32Array[] = [];
		for await (const batch of this.embedDocuments(texts, signal)) {
			for (const [index, vector] of batch.vectors.entries()) vectors[batch.offset + index] = vector;
		}
		return vectors;
	}

	async #embedBatch({ offset, texts }: Batch, signals: TaskSignals): Promise<EmbeddedBatch> {
		const timeoutMs = this.#options.settings.first_token_timeout_ms;
		const policy = {
			breaker: this.#documentCircuit,
			retryPolicy: DOCUMENT_RETRY_POLICY,
			timeoutMs,
			timeoutScope: 'an attempt',
		} as const;
		const queueSignal = anySignal(signals.signal, signals.drainSignal);
		const vectors = await this.#semaphore.run(() => this.#callWithRetries(texts, signals, policy), queueSignal);
		return { offset, vectors };
	}

	/** Requests one batch, and retries within the terms. */
	async #callWithRetries(
		texts: string[],
		{ signal, drainSignal }: Pick<TaskSignals, 'signal'> & Partial<TaskSignals>,
		{ breaker, retryPolicy, timeoutMs, timeoutScope }: CallPolicy,
	): Promise<Float32Array[]> {
		signal.throwIfAborted();
		const permission = breaker.tryAcquirePermission();
		if (permission === null) throw circuitOpenError(this.#lastFailure);
		using callAbort = new CallAbort(signal);
		// The provider may be faster with less load, so a call that can wait retries.
		const timeout = () =>
			providerError(`The embeddings provider did not answer within ${timeoutMs / 1_000} seconds.`, {
				isTransient: true,
			});
		callAbort.setDeadline(timeoutMs, timeout);
		try {
			for (let attempt = 1; ; attempt++) {
				try {
					const vectors = await callAbort.race(this.#request(texts, callAbort.nextAttempt()));
					permission.succeeded();
					return vectors;
				} catch (thrown) {
					callAbort.throwIfAborted();
					const providerFailure = this.#failureOf(thrown);
					const delay = nextRetryDelay(attempt, providerFailure, this.#options.random(), retryPolicy);
					if (delay === null || drainSignal?.aborted) throw thrown;
					const { status, detail } = providerFailure;
					this.#options.log.info(
						{ embedder: this.id, attempt, status, detail },
						'retrying a request to an embeddings provider',
					);
					if (timeoutScope === 'an attempt') callAbort.setDeadline(delay + timeoutMs, timeout);
					await callAbort.race(sleep(delay, anySignal(signal, drainSignal)));
					if (drainSignal?.aborted) throw thrown;
				}
			}
		} catch (thrown) {
			if (signal.aborted) throw signal.reason;
			const providerFailure = this.#failureOf(thrown);
			if (providerFailure.isProviderFault) permission.failed();
			else permission.succeeded();
			const { status, detail, sentence } = providerFailure;
			this.#lastFailure = sentence;
			this.#options.log.warn({ embedder: this.id, status, detail }, 'an embeddings provider failed');
			throw new AppError('model_error', providerFailure.sentence, { cause: new ProviderError(providerFailure) });
		} finally {
			permission.released();
		}
	}

	async #request(texts: string[], signal: AbortSignal): Promise<Float32Array[]> {
		const { name, settings, client } = this.#options;
		const response = await client.fetch(`${settings.base_url}/embeddings`, {
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

	readonly #truncate = (text: string): string => {
		const { name, settings } = this.#options;
		return firstTokens(text, Math.min(MAX_TEXT_TOKENS, limitsOf(settings, name.model).context_tokens));
	};

	#failureOf(thrown: unknown) {
		const { clock, settings } = this.#options;
		return classifyFailure(thrown, clock.now(), settings.api_key);
	}
}

function mixedDimensionsError(one: number | undefined, other: number | undefined): AppError {
	const failed = providerError(`The embeddings provider sent vectors of ${one} and of ${other} values.`);
	return new AppError('model_error', failed.message, { cause: failed });
}

/** @param last the sentence of the last failure, which tells the operator what to correct */
function circuitOpenError(last: string): AppError {
	const sentence = `${last} The embeddings provider has failed several times in a row and gets no requests for a while.`;
	const failed = providerError(sentence.trimStart(), { isTransient: true });
	return new AppError('model_error', failed.message, { cause: failed });
}
