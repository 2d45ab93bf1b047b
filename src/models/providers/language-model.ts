import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { Lru } from '../../base/index.ts';
import type { EndpointFetch } from '../../net/index.ts';
import type { ProviderSettings } from './settings.ts';
import { tellingAhead } from './text-ahead.ts';
import { thinkingNoted } from './thinking-noted.ts';

/** A model as the provider libraries have it (the AI SDK's language model specification, version 3). */
export type LanguageModel = ReturnType<OpenAICompatibleProvider['chatModel']>;
/** What such a model is asked. */
export type CallOptions = Parameters<LanguageModel['doStream']>[0];
export type Prompt = CallOptions['prompt'];
/** What it streams. */
export type StreamPart =
	Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

/** Makes the language model of a name. */
export type LanguageModels = (model: string) => LanguageModel;

/** Models that are kept. To make one takes longer than to ask it: each builds the schemas of its protocol. */
const KEPT = 64;

/** Loads the library that speaks a provider's protocol: that takes a tenth of a second, which who has no provider saves. */
export async function loadLanguageModels(settings: ProviderSettings, fetch: EndpointFetch): Promise<LanguageModels> {
	const { id, type, base_url: baseURL, api_key } = settings;
	if (type === 'anthropic') {
		const { createAnthropic } = await import('@ai-sdk/anthropic');
		// Without a key the library would look for one in the environment.
		const provider = createAnthropic({ baseURL, apiKey: api_key ?? '', fetch });
		return kept((model) => provider(model));
	}
	const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
	const provider = createOpenAICompatible({
		name: id,
		baseURL,
		includeUsage: true,
		fetch: tellingAhead(fetch),
		metadataExtractor: thinkingNoted,
		...(api_key === null ? {} : { apiKey: api_key }),
		...(type === 'openai' ? { transformRequestBody: withNewerLimit } : {}),
	});
	return kept((model) => provider.chatModel(model));
}

function kept(make: LanguageModels): LanguageModels {
	const models = new Lru<string, LanguageModel>(KEPT);
	return (name) => {
		const model = models.get(name) ?? make(name);
		models.set(name, model);
		return model;
	};
}

/** OpenAI's reasoning models refuse the limit's older name, which the services that are only compatible want. */
function withNewerLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
	return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}
