/** The parts of the id of a provider's embedder. */
export interface EmbedderName {
	provider: string;
	/** The name of the model within the provider. */
	model: string;
	/** The number of dimensions in requests; null for the default of the model. */
	dimensions: number | null;
}

/** Parses an id: `provider/name`, `provider/name?dimensions=512`. Null for any other text. */
export function parseEmbedderId(id: string): EmbedderName | null {
	const [, provider, model, dimensions] = /^([^/]+)\/(.+?)(?:\?dimensions=([1-9]\d{0,3}))?$/s.exec(id) ?? [];
	if (provider === undefined || model === undefined) return null;
	return { provider, model, dimensions: dimensions === undefined ? null : Number(dimensions) };
}
