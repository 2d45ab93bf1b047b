import type { ProviderSettings } from './providers.ts';

/** The largest models of today have so many. */
const MOST_DIMENSIONS = 4_096;

/**
 * Holds the named embedder against the providers that there are.
 * @param refuse makes the error from a complaint without a full stop
 */
export function checkEmbedder(
	embedder: string,
	providers: readonly ProviderSettings[],
	refuse: (complaint: string) => Error,
): void {
	if (embedder === 'builtin') return;
	const [, id, query] = /^([^/]+)\/[^?]+(?:\?(.*))?$/s.exec(embedder) ?? [];
	if (id === undefined) throw refuse('is neither builtin nor provider/name');
	if (query !== undefined) {
		const dimensions = Number(/^dimensions=([1-9]\d{0,3})$/.exec(query)?.[1]);
		if (!(dimensions <= MOST_DIMENSIONS)) throw refuse(`does not end with ?dimensions=1 to ${MOST_DIMENSIONS}`);
	}
	const provider = providers.find((one) => one.id === id);
	if (provider === undefined) {
		const known = providers.map((one) => one.id).join(', ') || 'none';
		throw refuse(`names the provider '${id}', which is not configured (known: ${known})`);
	}
	if (provider.type === 'anthropic') throw refuse(`names the provider '${id}', whose service has no embeddings`);
}
