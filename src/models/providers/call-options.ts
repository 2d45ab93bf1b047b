import type { ChatRequest } from '../chat-model.ts';
import type { CallOptions } from './answer-parts.ts';
import { type ComposedPrompt, composePrompt } from './prompt.ts';
import { limitsOf, type ProviderSettings } from './settings.ts';

/** What a provider is asked, and what there was no room for. */
export interface ComposedCall extends Pick<ComposedPrompt, 'passages' | 'leftOut'> {
	options: CallOptions;
	/** Whether calls are offered. */
	mayCall: boolean;
}

/**
 * What a provider is asked for a request.
 * @throws AppError `model_error` where it is longer than the model can read
 */
export function composeCall(request: ChatRequest, settings: ProviderSettings): ComposedCall {
	const limits = limitsOf(settings, request.model);
	const { prompt, tools, passages, leftOut } = composePrompt(request, limits);
	const options: CallOptions = {
		prompt,
		...(tools.length > 0 ? { tools } : toolsOfThePast(request, settings)),
		...(limits.max_output_tokens === null ? {} : { maxOutputTokens: limits.max_output_tokens }),
		...(settings.temperature === null ? {} : { temperature: settings.temperature }),
	};
	return { options, mayCall: tools.length > 0, passages, leftOut };
}

/** Anthropic's protocol has no calls in a conversation without their tools: they are named again, and forbidden. */
function toolsOfThePast({ steps }: ChatRequest, { type }: ProviderSettings): Pick<CallOptions, 'tools' | 'toolChoice'> {
	const names = new Set(steps.flatMap(({ calls }) => calls.map(({ name }) => name)));
	if (type !== 'anthropic' || names.size === 0) return {};
	const tools = [...names].map((name) => ({
		type: 'function' as const,
		name,
		inputSchema: { type: 'object' as const },
	}));
	return { tools, toolChoice: { type: 'none' } };
}
