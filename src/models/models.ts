import { AppError } from '../base/index.ts';
import { builtinProvider } from './builtin-provider.ts';
import type { ChatModel, ChatModelDescription, ChatProvider, UnclosedCircuit } from './chat-model.ts';
import type { ModelPrice } from './price.ts';

/** The model that needs no provider; the default of assistants, unless the settings name another. */
export const BUILTIN_MODEL = 'builtin/extractive';

/** A configured model as the API lists it. */
export interface ModelListing {
	/** The value of an assistant's `model`: `provider/name`; `provider/*` if the provider takes any name. */
	id: string;
	provider: string;
	/** Null if the provider takes any name. */
	name: string | null;
	description: string;
	/** Tokens that it reads and writes at once; null if unknown or without meaning. */
	context_tokens: number | null;
	/** Micros of the currency for a million tokens; null without a price. That of a provider is for the names that are not listed. */
	price: { input_micros: number; output_micros: number; currency: string } | null;
	/** Whether it is the model of assistants that name none. */
	default: boolean;
}

/** A model that `resolve` found by its full name. */
export interface ResolvedModel {
	/** The full name, `provider/name`. */
	id: string;
	/** The name within the provider: the `model` of a ChatRequest. */
	name: string;
	model: ChatModel;
}

/** The models that this server can answer with. */
export interface Models {
	readonly defaultModel: string;
	/**
	 * The model with this full name; the default model for null.
	 * @throws AppError `unknown_model` for a name that is not configured
	 */
	resolve(modelName: string | null): ResolvedModel;
	/** The price of the model with this full name; null if it has none, or is not configured. */
	priceOf(modelName: string): ModelPrice | null;
	/** Every configured model. */
	list(): ModelListing[];
	/** The circuits of all providers that are not closed now. */
	unclosedCircuits(): ({ provider: string } & UnclosedCircuit)[];
}

/** The options of the registry. */
export interface ModelsOptions {
	/** Full name; by default `builtin/extractive`. A name that is not configured is an AppError `unknown_model`. */
	defaultModel?: string | undefined;
	/** Providers beside the built-in one. */
	providers?: readonly ChatProvider[] | undefined;
	/** The code of ISO 4217 in which prices are; USD by default. */
	currency?: string | undefined;
}

/** Makes the registry of models from the built-in provider and the given ones. */
export function createModels(options: ModelsOptions = {}): Models {
	const providers = new Map<string, ChatProvider>();
	for (const provider of [builtinProvider, ...(options.providers ?? [])]) {
		if (provider.id === '' || provider.id.includes('/')) {
			throw new Error(`The provider id ${JSON.stringify(provider.id)} must be a word without a slash.`);
		}
		if (providers.has(provider.id)) throw new Error(`Two model providers are called '${provider.id}'.`);
		providers.set(provider.id, provider);
	}
	const defaultModel = options.defaultModel ?? BUILTIN_MODEL;

	const { currency = 'USD' } = options;
	const list = (): ModelListing[] =>
		[...providers.values()].flatMap((provider) =>
			entriesOf(provider, defaultModel).map((entry) => ({ ...entry, price: priceIn(currency, provider, entry) })),
		);
	const resolve = (modelName: string | null): ResolvedModel => {
		const id = modelName ?? defaultModel;
		const slash = id.indexOf('/');
		const provider = slash < 0 ? undefined : providers.get(id.slice(0, slash));
		const name = id.slice(slash + 1);
		if (!provider || name === '' || (provider.models && !provider.models.some((known) => known.name === name))) {
			throw unknownModel(id, list());
		}
		return { id, name, model: provider.chat };
	};
	const priceOf = (modelName: string): ModelPrice | null => {
		const slash = modelName.indexOf('/');
		return providers.get(modelName.slice(0, slash))?.priceOf?.(modelName.slice(slash + 1)) ?? null;
	};
	resolve(defaultModel);
	const unclosedCircuits = () =>
		[...providers.values()].flatMap(({ id, unclosedCircuits: read }) =>
			(read?.() ?? []).map((circuit) => ({ provider: id, ...circuit })),
		);
	return { defaultModel, resolve, priceOf, list, unclosedCircuits };
}

type Entry = Omit<ModelListing, 'price'>;

function entriesOf(provider: ChatProvider, defaultModel: string): Entry[] {
	if (provider.models) return namedEntries(provider, provider.models, defaultModel);
	const { id, pricedModels = [], context_tokens = null } = provider;
	const priced = pricedModels.map((name) => ({
		...{ name, context_tokens },
		description: `The model ${name} of the provider '${id}'.`,
	}));
	const named = namedEntries(provider, priced, defaultModel);
	const isDefault = defaultModel.startsWith(`${id}/`) && !named.some((entry) => entry.default);
	const description = `Any model of the provider '${id}', by its name there.`;
	return [...named, { id: `${id}/*`, provider: id, name: null, description, context_tokens, default: isDefault }];
}

function namedEntries(
	{ id: provider }: ChatProvider,
	models: readonly ChatModelDescription[],
	defaultModel: string,
): Entry[] {
	return models.map(({ name, description, context_tokens = null }) => {
		const id = `${provider}/${name}`;
		return { id, provider, name, description, context_tokens, default: id === defaultModel };
	});
}

function priceIn(currency: string, provider: ChatProvider, { name }: Entry): ModelListing['price'] {
	const price = provider.priceOf?.(name ?? '*');
	return price ? { input_micros: price.input, output_micros: price.output, currency } : null;
}

/** A name may come from a request, so the part that an error repeats is bounded. */
const MAX_SHOWN_NAME_LENGTH = 100;

function unknownModel(id: string, configured: ModelListing[]): AppError {
	const shown = id.length > MAX_SHOWN_NAME_LENGTH ? `${id.slice(0, MAX_SHOWN_NAME_LENGTH)}…` : id;
	const names = configured.map((model) => model.id).join(', ');
	return new AppError('unknown_model', `The model '${shown}' is not configured on this server. Configured: ${names}.`);
}
