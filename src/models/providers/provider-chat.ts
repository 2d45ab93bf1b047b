import { AppError, type Clock, type Log } from '../../base/index.ts';
import type { Endpoint } from '../../net/index.ts';
import type { ChatModel, ChatRequest, ModelEvent } from '../chat-model.ts';
import { Answer, type AnswerTerms, seconds } from './answer.ts';
import type { AnswerInbox, CallOptions } from './answer-parts.ts';
import { CallEnding } from './call-ending.ts';
import { type ComposedCall, composeCall } from './call-options.ts';
import { type Failure, failure, failureOf, ProviderError } from './failure.ts';
import { Inbox } from './inbox.ts';
import { type LanguageModel, type LanguageModels, loadLanguageModels } from './language-model.ts';
import { ModelCircuits, type ModelPermit } from './model-circuits.ts';
import { delayBefore } from './retry.ts';
import type { ProviderSettings } from './settings.ts';

export interface ProviderChatOptions {
	settings: ProviderSettings;
	endpoint: Pick<Endpoint, 'fetch'>;
	clock: Clock;
	log: Log;
	/** From 0 to 1, as Math.random. */
	random: () => number;
}

/** The chat models of one provider: what is asked again, what is waited for, and when nobody is asked any more. */
export class ProviderChat implements ChatModel {
	readonly #options: ProviderChatOptions;
	readonly #circuits: ModelCircuits;
	#models: Promise<LanguageModels> | undefined;

	constructor(options: ProviderChatOptions) {
		const { clock, log, settings } = options;
		this.#options = options;
		this.#circuits = new ModelCircuits(clock, (model, state) => {
			log.warn({ provider: settings.id, model, circuit: state }, 'the circuit of a model provider has changed');
		});
	}

	async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
		signal.throwIfAborted();
		const call = composeCall(request, this.#options.settings);
		this.#tellLeftOut(request, call);
		if (call.passages.length < request.passages.length) yield { type: 'passages', indexes: call.passages };
		const permit = this.#circuits.enter(request.model);
		if (permit === null) throw leftAlone();
		using ending = new CallEnding(signal);
		const { first_token_timeout_ms: firstMs } = this.#options.settings;
		ending.within(firstMs, () => failure(`The model did not begin to answer within ${seconds(firstMs)}.`));
		try {
			const model = (await ending.orEnd(this.#load()))(request.model);
			yield* this.#attempts(model, call.options, this.#terms(request, call, permit), ending);
			// Not before its end: a provider that says one word and hangs would never be found out.
			permit.succeeded();
		} catch (thrown) {
			if (signal.aborted) throw signal.reason;
			throw this.#report(thrown, request, permit);
		} finally {
			// Stopped before its end: nobody knows what would have come.
			permit.abandoned();
		}
	}

	/** Asks until an answer begins; once it has, it is this one or none, for its text is on its way to readers. */
	async *#attempts(
		model: LanguageModel,
		options: CallOptions,
		terms: AnswerTerms,
		ending: CallEnding,
	): AsyncGenerator<ModelEvent, void, undefined> {
		for (let attempt = 1; ; attempt++) {
			const abortSignal = ending.nextAttempt();
			const inbox: AnswerInbox = new Inbox();
			const answer = new Answer(terms, ending, inbox);
			try {
				await ending.orEnd(model({ ...options, abortSignal }, inbox));
				yield* answer.events();
				return;
			} catch (thrown) {
				ending.throwIfEnded();
				const failed = this.#failureOf(thrown);
				const delay = answer.begun ? null : delayBefore(attempt, failed, this.#options.random());
				if (delay === null) throw thrown;
				const { status, detail } = failed;
				this.#options.log.info(
					{ provider: this.#options.settings.id, attempt, status, detail },
					'asking a provider again',
				);
				await ending.pause(delay);
			}
		}
	}

	#tellLeftOut({ model, steps }: ChatRequest, { leftOut }: ComposedCall): void {
		if (leftOut.length === 0 || steps.length > 0) return;
		const { settings, log } = this.#options;
		log.warn(
			{ provider: settings.id, model, tools: leftOut },
			'tools are not offered to a model: their descriptions and parameters take more than half of what it can read',
		);
	}

	#terms({ steps }: ChatRequest, { mayCall }: ComposedCall, permit: ModelPermit): AnswerTerms {
		return {
			mayCall,
			mustSpeak: steps.length === 0,
			idleMs: this.#options.settings.idle_timeout_ms,
			onBegin: permit.began,
		};
	}

	/** Callers at the same time share the loading; where it fails, the next one tries again. */
	#load(): Promise<LanguageModels> {
		const { settings, endpoint } = this.#options;
		this.#models ??= loadLanguageModels(settings, endpoint.fetch).catch((error: unknown) => {
			this.#models = undefined;
			throw error;
		});
		return this.#models;
	}

	/** Draws the conclusions of a failure; the error that comes back is what the reply shows. */
	#report(thrown: unknown, { model }: ChatRequest, permit: ModelPermit): AppError {
		const failed = this.#failureOf(thrown);
		if (failed.unhealthy) permit.failed(failed);
		else permit.succeeded();
		const { status, detail } = failed;
		this.#options.log.warn({ provider: this.#options.settings.id, model, status, detail }, 'a model provider failed');
		return new AppError('model_error', failed.sentence, { cause: new ProviderError(failed) });
	}

	#failureOf(thrown: unknown): Failure {
		const { clock, settings } = this.#options;
		return failureOf(thrown, clock.now(), settings.api_key);
	}
}

function leftAlone(): AppError {
	const sentence =
		'The model provider has failed several times in a row and is left alone for a while. Try again later.';
	return new AppError('model_error', sentence);
}
