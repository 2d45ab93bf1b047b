/** A provider of chat models, as the server's settings describe it. */
export interface ProviderSettings {
	id: string;
	type: 'openai-compatible' | 'openai' | 'anthropic';
	/** What stands before `/chat/completions` or `/messages`; without a slash at its end. */
	base_url: string;
	/** A secret: it goes to the provider and into no log, no error and no answer. Null where none is wanted. */
	api_key: string | null;
	/** Null where the provider takes any name. */
	models: readonly ModelSettings[] | null;
	/** Of a model that is not listed. */
	context_tokens: number;
	max_output_tokens: number | null;
	/** Until an answer must have begun, all attempts together. */
	first_token_timeout_ms: number;
	/** Between two pieces of an answer. */
	idle_timeout_ms: number;
	/** Null leaves it to the provider. */
	temperature: number | null;
}

/** A model that the settings list. */
export interface ModelSettings {
	name: string;
	/** One sentence for people; null where there is none. */
	description: string | null;
	/** What it reads and writes at once. */
	context_tokens: number;
	/** Null leaves it to the provider. */
	max_output_tokens: number | null;
}

/** What a model can take, in tokens. */
export interface ModelLimits {
	context_tokens: number;
	max_output_tokens: number | null;
}

/** The limits of a model by its name within the provider. */
export function limitsOf(settings: ProviderSettings, model: string): ModelLimits {
	return settings.models?.find(({ name }) => name === model) ?? settings;
}
