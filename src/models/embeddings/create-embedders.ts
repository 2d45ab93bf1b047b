import { AppError, LruCache } from '../../base/index.ts';
import type { ServiceClient } from '../../net/index.ts';
import type { ProviderDependencies } from '../providers/index.ts';
import type { ProviderSettings } from '../providers/settings.ts';
import { BUILTIN_EMBEDDER, type Embedder, type Embedders } from './embedder.ts';
import { type EmbedderName, parseEmbedderId } from './embedder-id.ts';
import { ProviderEmbedder } from './provider-embedder.ts';

/**
 * Bytes of a response and of one line of it. The vectors of a whole batch take less, even with every digit that JSON allows.
 */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** Embedders that are cached, each with its circuit breakers. More are never in use at once. */
const MAX_EMBEDDERS = 100;

/** The embedders of a server without providers. */
export const builtinEmbedders: Embedders = { configured: BUILTIN_EMBEDDER, resolve: () => null };

/**
 * Makes the embedders of the configured providers. No request is sent before the first text.
 * @param configured `builtin`, or the id of an embedder of one of the providers
 * @throws AppError `unknown_model` if the embedder's provider is not configured or has no embeddings
 */
export function createEmbedders(
	configured: string,
	providers: readonly ProviderSettings[],
	dependencies: ProviderDependencies,
): Embedders {
	const cache = new LruCache<string, Embedder>(MAX_EMBEDDERS);
	const clients = new Map<string, ServiceClient>();
	const { network, clock, log, random = Math.random } = dependencies;
	const open = (id: string, name: EmbedderName, settings: ProviderSettings): Embedder => {
		const { base_url } = settings;
		const client =
			clients.get(settings.id) ??
			network.serviceClient(base_url, { maxBodyBytes: MAX_RESPONSE_BYTES, maxLineBytes: MAX_RESPONSE_BYTES });
		clients.set(settings.id, client);
		return new ProviderEmbedder({ id, name, settings, client, clock, log, random });
	};
	const resolve = (id: string): Embedder | null => {
		const cached = cache.get(id);
		if (cached !== undefined) return cached;
		const name = parseEmbedderId(id);
		const settings = providers.find((provider) => provider.id === name?.provider && provider.type !== 'anthropic');
		if (name === null || settings === undefined) return null;
		const embedder = open(id, name, settings);
		cache.set(id, embedder);
		return embedder;
	};
	if (configured !== BUILTIN_EMBEDDER && resolve(configured) === null) {
		const sentence = `The embedder '${configured}' is not configured on this server: it is builtin, or a provider of OpenAI's protocol and the name of its model.`;
		throw new AppError('unknown_model', sentence);
	}
	return { configured, resolve };
}
