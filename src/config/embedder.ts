import type { ProviderSettings } from './providers.ts';

/** The dimensions of today's largest models. */
const MAX_DIMENSIONS = 4_096;

/**
 * Checks that the named embedder belongs to a configured provider.
 * @param createError makes the error from a clause without a full stop
 */
export function checkEmbedder(
	embedder: string,
	providers: readonly ProviderSettings[],
	createError: (problem: string) => Error,
): void {
	if (embedder === 'builtin') return;
	const [, id, query] = /^([^/]+)\/[^?]+(?:\?(.*))?$/s.exec(embedder) ?? [];
	if (id === undefined) throw createError('is neither builtin nor provider/name');
	if (query !== undefined) {
		const dimensions = Number(/^dimensions=([1-9]\d{0,3})$/.exec(query)?.[1]);
		if (!(dimensions <= MAX_DIMENSIONS)) throw createError(`does not end with ?dimensions=1 to ${MAX_DIMENSIONS}`);
	}
	const provider = providers.find((one) => one.id === id);
	if (provider === undefined) {
		const known = providers.map((one) => one.id).join(', ') || 'none';
		throw createError(`names the provider '${id}', which is not configured (known: ${known})`);
	}
	if (provider.type === 'anthropic') throw createError(`names the provider '${id}', whose service has no embeddings`);
}
