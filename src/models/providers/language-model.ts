import { Lru } from '../../base/index.ts';
import type { EndpointFetch } from '../../net/index.ts';
import { AnswerAhead } from './answer-ahead.ts';
import { type AnswerInbox, type CallOptions, type LibraryModel, passOn } from './answer-parts.ts';
import { OpenExchanges } from './open-exchanges.ts';
import type { ProviderSettings } from './settings.ts';
import { thinkingNoted } from './thinking-noted.ts';

/** Asks a model; resolves when it has begun to answer, and its answer comes into the inbox from then on. */
export type LanguageModel = (options: AskOptions, inbox: AnswerInbox) => Promise<void>;
/** An abort of the signal ends the answer. */
export type AskOptions = CallOptions & { abortSignal: AbortSignal };

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
		return kept((name) => throughout(provider(name)));
	}
	const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
	const exchanges = new OpenExchanges(fetch);
	const provider = createOpenAICompatible({
		name: id,
		baseURL,
		includeUsage: true,
		fetch: exchanges.fetch,
		metadataExtractor: thinkingNoted,
		...(api_key === null ? {} : { apiKey: api_key }),
		...(type === 'openai' ? { transformRequestBody: withNewerLimit } : {}),
	});
	return kept((name) => ahead(provider.chatModel(name), exchanges));
}

/** The library reads its answers. */
function throughout(model: LibraryModel): LanguageModel {
	return async (options, inbox) => {
		const { stream } = await model.doStream(options);
		void passOn(stream, inbox);
	};
}

/** The library reads of its answers what is not plain. */
function ahead(model: LibraryModel, exchanges: OpenExchanges): LanguageModel {
	return async (options, inbox) => {
		const body = await exchanges.begin(() => model.doStream(options));
		const library = async (rest: ReadableStream<Uint8Array>) =>
			(await exchanges.reading(options.abortSignal, rest, () => model.doStream(options))).stream;
		void new AnswerAhead(inbox, library).read(body);
	};
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
