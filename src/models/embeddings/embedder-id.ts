/** An embedder of a provider, as its id names it. */
export interface EmbedderName {
	provider: string;
	/** The model's name within the provider. */
	model: string;
	/** The number of dimensions that the provider is asked for; null for the model's own. */
	dimensions: number | null;
}

/** What an id (`provider/name`, `provider/name?dimensions=512`) names; null for one that names no provider's model. */
export function parseEmbedderId(id: string): EmbedderName | null {
	const [, provider, model, dimensions] = /^([^/]+)\/(.+?)(?:\?dimensions=([1-9]\d{0,3}))?$/s.exec(id) ?? [];
	if (provider === undefined || model === undefined) return null;
	return { provider, model, dimensions: dimensions === undefined ? null : Number(dimensions) };
}
