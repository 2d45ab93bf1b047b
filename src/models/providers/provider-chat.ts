import { AppError, type Clock, type Log } from '../../base/index.ts';
import type { ServiceClient } from '../../net/index.ts';
import type { ChatModel, ChatRequest, ModelEvent } from '../chat-model.ts';
import { Answer, type AnswerTerms, seconds } from './answer.ts';
import { type Ask, prepareCall } from './ask.ts';
import { CallEnding } from './call-ending.ts';
import { type ComposedCall, composeCall } from './compose-call.ts';
import { type Failure, failure, failureOf, ProviderError } from './failure.ts';
import { ModelCircuits, type ModelPermit } from './model-circuits.ts';
import { delayBefore } from './retry.ts';
import type { ProviderSettings } from './settings.ts';

export interface ProviderChatOptions {
	settings: ProviderSettings;
	endpoint: Pick<ServiceClient, 'fetch'>;
	clock: Clock;
	log: Log;
	/** From 0 to 1, as Math.random. */
	random: () => number;
}

/** The chat models of one provider: what is asked again, what is waited for, and when nobody is asked any more. */
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

	async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
		signal.throwIfAborted();
		const { settings, endpoint } = this.#options;
		const composed = composeCall(request, settings);
		this.#tellLeftOut(request, composed);
		if (composed.passages.length < request.passages.length) yield { type: 'passages', indexes: composed.passages };
		const permit = this.#circuits.enter(request.model);
		if (permit === null) throw leftAlone();
		using ending = new CallEnding(signal);
		const { first_token_timeout_ms: firstMs } = settings;
		ending.within(firstMs, () => failure(`The model did not begin to answer within ${seconds(firstMs)}.`));
		try {
			const ask = prepareCall(composed.call, settings, endpoint.fetch);
			yield* this.#attempts(ask, this.#terms(request, composed, permit), ending);
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
	async *#attempts(ask: Ask, terms: AnswerTerms, ending: CallEnding): AsyncGenerator<ModelEvent, void, undefined> {
		for (let attempt = 1; ; attempt++) {
			const answer = new Answer(terms, ending);
			try {
				yield* answer.events(await ending.orEnd(ask(ending.nextAttempt())));
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
