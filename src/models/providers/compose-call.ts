import type { ChatRequest } from '../chat-model.ts';
import { type ComposedPrompt, composePrompt } from './prompt.ts';
import type { ModelCall } from './prompt-message.ts';
import { limitsOf, type ProviderSettings } from './settings.ts';

/** A call to a service, and what did not fit into it. */
export interface ComposedCall extends Pick<ComposedPrompt, 'passages' | 'omittedTools' | 'tokens'> {
	call: ModelCall;
	/** Whether the call offers tools. */
	mayCall: boolean;
}

/**
 * Composes the call to a service for a request.
 * @throws AppError `model_error` if it is longer than the model can read
 */
export function composeCall(request: ChatRequest, settings: ProviderSettings): ComposedCall {
	const { model } = request;
	const limits = limitsOf(settings, model);
	const { prompt: messages, tools, passages, omittedTools, tokens } = composePrompt(request, limits);
	const { temperature } = settings;
	const maxOutputTokens = lower(limits.max_output_tokens, request.reserved_tokens?.output_tokens ?? null);
	const call = { model, messages, tools, maxOutputTokens, temperature };
	return { call, mayCall: tools.length > 0, passages, omittedTools, tokens };
}

/** The lower limit; null: there is none. */
function lower(one: number | null, other: number | null): number | null {
	return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
