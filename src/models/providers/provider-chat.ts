import { AppError, type Clock, type Log } from '../../base/index.ts';
import type { ServiceClient } from '../../net/index.ts';
import type { ChatModel, ChatRequest, ModelEvent, UnclosedCircuit } from '../chat-model.ts';
import { Answer, type AnswerRules, seconds } from './answer.ts';
import { type Ask, prepareCall } from './ask.ts';
import { CallAbort } from './call-abort.ts';
import { type ComposedCall, composeCall } from './compose-call.ts';
import { type ModelCallPermission, ModelCircuits } from './model-circuits.ts';
import { classifyFailure, ProviderError, type ProviderFailure, providerError } from './provider-failure.ts';
import { nextRetryDelay } from './retry.ts';
import type { ProviderSettings } from './settings.ts';

export interface ProviderChatOptions {
	settings: ProviderSettings;
	client: Pick<ServiceClient, 'stream'>;
	clock: Clock;
	log: Log;
	/** From 0 to 1, as Math.random. */
	random: () => number;
}

/** The chat models of one provider, with retries, deadlines and circuit breakers. */
export class ProviderChat implements ChatModel {
	readonly #options: ProviderChatOptions;
	readonly #circuits: ModelCircuits;

	constructor(options: ProviderChatOptions) {
		const { clock, log, settings } = options;
		this.#options = options;
		this.#circuits = new ModelCircuits(clock, (model, state) => {
			log.warn({ provider: settings.id, model, circuit: state }, 'the circuit of a model provider has changed');
		});
	}

	/** See `ModelCircuits`. */
	unclosedCircuits(): UnclosedCircuit[] {
		return this.#circuits.unclosed();
	}

	async stream(request: ChatRequest, signal: AbortSignal, onEvent: (event: ModelEvent) => void): Promise<void> {
		signal.throwIfAborted();
		const { settings, client } = this.#options;
		const composed = composeCall(request, settings);
		this.#logOmittedTools(request, composed);
		if (composed.tokens !== null) onEvent({ type: 'prompt', input_tokens: composed.tokens });
		if (composed.passages.length < request.passages.length) onEvent({ type: 'passages', indexes: composed.passages });
		const permission = this.#circuits.tryAcquirePermission(request.model);
		if (permission === null) throw circuitOpenError();
		const consumer = new Consumer(onEvent);
		using callAbort = new CallAbort(signal);
		const { first_token_timeout_ms: firstMs } = settings;
		callAbort.setDeadline(firstMs, () =>
			providerError(`The model did not begin to answer within ${seconds(firstMs)}.`),
		);
		try {
			const ask = prepareCall(composed.call, settings, client, request.trace_headers);
			await this.#attempts(ask, this.#rules(request, composed, permission), callAbort, consumer.take);
			// Reported at the end of the answer, because a provider may send one word and then hang.
			permission.succeeded();
		} catch (thrown) {
			if (consumer.hasFailed) throw thrown;
			if (signal.aborted) throw signal.reason;
			throw this.#recordFailure(thrown, request, permission);
		} finally {
			// Without effect after a report. An answer that was stopped early has no outcome.
			permission.released();
		}
	}

	/** Retries until an answer begins. After that there is no retry, because followers already have its text. */
	async #attempts(
		ask: Ask,
		rules: AnswerRules,
		callAbort: CallAbort,
		onEvent: (event: ModelEvent) => void,
	): Promise<void> {
		for (let attempt = 1; ; attempt++) {
			if (attempt > 1) onEvent({ type: 'attempt_repeated' });
			const answer = new Answer(rules, callAbort, onEvent);
			try {
				await callAbort.run<void>((resolve, reject) => receiveAnswer(ask, answer, resolve, reject));
				return;
			} catch (thrown) {
				const failure = this.#failureOf(thrown);
				if (!answer.hasBegun) onEvent({ type: 'attempt_failed', isCharged: !failure.isUncharged });
				callAbort.throwIfAborted();
				const delay = answer.hasBegun ? null : nextRetryDelay(attempt, failure, this.#options.random());
				if (delay === null) throw thrown;
				const { status, detail } = failure;
				this.#options.log.info(
					{ provider: this.#options.settings.id, attempt, status, detail },
					'retrying a request to a model provider',
				);
				await callAbort.pause(delay);
			}
		}
	}

	#logOmittedTools({ model, rounds }: ChatRequest, { omittedTools }: ComposedCall): void {
		if (omittedTools.length === 0 || rounds.length > 0) return;
		const { settings, log } = this.#options;
		log.warn(
			{ provider: settings.id, model, tools: omittedTools },
			'tools are not offered to a model: their descriptions and parameters take more than half of what it can read',
		);
	}

	#rules({ rounds }: ChatRequest, { mayCall }: ComposedCall, permission: ModelCallPermission): AnswerRules {
		return {
			mayCall,
			requiresOutput: rounds.length === 0,
			idleMs: this.#options.settings.idle_timeout_ms,
			onBegin: permission.responseStarted,
		};
	}

	/** Reports a failure to the circuits and the log. @returns the error that the reply shows */
	#recordFailure(thrown: unknown, { model }: ChatRequest, permission: ModelCallPermission): AppError {
		const failure = this.#failureOf(thrown);
		if (failure.isProviderFault) permission.failed(failure);
		else permission.succeeded();
		const { status, detail } = failure;
		this.#options.log.warn({ provider: this.#options.settings.id, model, status, detail }, 'a model provider failed');
		return new AppError('model_error', failure.sentence, { cause: new ProviderError(failure) });
	}

	#failureOf(thrown: unknown): ProviderFailure {
		const { clock, settings } = this.#options;
		return classifyFailure(thrown, clock.now(), settings.api_key);
	}
}

/** Receives the events of an answer. Notices that it failed itself, which is no failure of the provider. */
class Consumer {
	hasFailed = false;
	readonly #onEvent: (event: ModelEvent) => void;

	constructor(onEvent: (event: ModelEvent) => void) {
		this.#onEvent = onEvent;
	}

	readonly take = (event: ModelEvent): void => {
		try {
			this.#onEvent(event);
		} catch (thrown) {
			this.hasFailed = true;
			throw thrown;
		}
	};
}

/** Asks, and passes the events to the answer. @returns how the request is cancelled */
function receiveAnswer(ask: Ask, answer: Answer, resolve: () => void, reject: (error: unknown) => void): () => void {
	const exchange = ask({
		onEvents(events) {
			try {
				answer.take(events);
			} catch (thrown) {
				reject(thrown);
				return;
			}
			if (answer.isComplete) resolve();
		},
		onFailure: reject,
	});
	return () => exchange.abort();
}

function circuitOpenError(): AppError {
	const sentence =
		'The model provider has failed several times in a row and gets no requests for a while. Try again later.';
	return new AppError('model_error', sentence);
}
