import type { ProviderSettings } from '../../config/index.ts';

export type { ModelSettings, ProviderSettings, TokenPrice } from '../../config/index.ts';

/** What a model can take, in tokens. */
export interface ModelLimits {
	context_tokens: number;
	/** Null leaves it to the provider. */
	max_output_tokens: number | null;
}

/** The limits of a model by its name within the provider. */
export function limitsOf(settings: ProviderSettings, model: string): ModelLimits {
	return settings.models?.find(({ name }) => name === model) ?? settings;
}
