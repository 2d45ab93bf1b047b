import type { Clock, Log } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import type { ChatProvider } from '../chat-model.ts';
import { priceOf } from './price.ts';
import { ProviderChat } from './provider-chat.ts';
import type { ProviderSettings } from './settings.ts';

export interface ProviderDependencies {
	network: Pick<Network, 'serviceClient'>;
	clock: Clock;
	log: Log;
	/** From 0 to 1; Math.random by default. */
	random?: () => number;
}

/** Makes the configured providers, each with its own service client. No request is sent before the first question. */
export function createProviders(
	settings: readonly ProviderSettings[],
	{ network, clock, log, random = Math.random }: ProviderDependencies,
): ChatProvider[] {
	return settings.map((provider) => {
		const client = network.serviceClient(provider.base_url);
		return providerOf(provider, new ProviderChat({ settings: provider, client, clock, log, random }));
	});
}

function providerOf(provider: ProviderSettings, chat: ProviderChat): ChatProvider {
	return {
		id: provider.id,
		chat,
		unclosedCircuits: () => chat.unclosedCircuits(),
		priceOf: (model) => priceOf(provider, model),
		pricedModels: [...provider.prices.keys()].filter((name) => name !== '*'),
		context_tokens: provider.context_tokens,
		models:
			provider.models?.map(({ name, description, context_tokens }) => {
				return {
					name,
					description: description ?? `The model ${name} of the provider '${provider.id}'.`,
					context_tokens,
				};
			}) ?? null,
	};
}
