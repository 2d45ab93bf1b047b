import { type Static, Type } from 'typebox';
import { isHeaderWord } from './formats.ts';

/** The default time limits of a provider. */
const TIMEOUTS = { first_token_timeout_ms: 60_000, idle_timeout_ms: 60_000 };

/** The setting of a provider's model. */
const ModelSchema = Type.Object(
	{
		name: Type.String({
			minLength: 1,
			maxLength: 200,
			format: 'one-line',
			description: 'The name of the model at its provider: one line without control characters.',
		}),
		description: Type.Optional(
			Type.String({
				minLength: 1,
				maxLength: 500,
				format: 'one-line',
				description: 'One sentence for people about the model: one line without control characters.',
			}),
		),
		context_tokens: Type.Optional(
			Type.Integer({
				minimum: 512,
				maximum: 100_000_000,
				description: 'Tokens that the model reads and writes at once.',
			}),
		),
		max_output_tokens: Type.Optional(
			Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'Tokens that an answer of the model has at most.' }),
		),
	},
	{ additionalProperties: false },
);

const price = (what: string) =>
	Type.Number({ minimum: 0, maximum: 1_000_000, description: `The price of a million tokens that a model ${what}.` });

/** The price of a model. Models that are not named have the price of `*`. */
const PriceSchema = Type.Object(
	{ input: price('reads'), output: price('writes') },
	{ additionalProperties: false, description: 'The price of a model is {input, output}, each for a million tokens.' },
);

/** The setting of a provider. The descriptions are part of the sentence about a wrong value. */
export const ProviderSchema = Type.Object(
	{
		id: Type.String({
			pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
			description: 'What models are named by before their first slash: lower-case letters, digits, - and _.',
		}),
		type: Type.Unsafe<ProviderType>({
			type: 'string',
			enum: ['openai-compatible', 'openai', 'anthropic'],
			description: 'One of openai-compatible, openai or anthropic.',
		}),
		base_url: Type.Optional(
			Type.String({
				format: 'base-url',
				description:
					'The http or https address before /chat/completions or /messages, such as http://localhost:11434/v1.',
			}),
		),
		api_key_env: Type.Optional(
			Type.String({
				pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
				description: 'The name of the environment variable that holds the key, not the key itself.',
			}),
		),
		models: Type.Optional(
			Type.Array(ModelSchema, {
				minItems: 1,
				maxItems: 500,
				description: 'A list of {name, description, context_tokens, max_output_tokens}; without it, any name is taken.',
			}),
		),
		prices: Type.Optional(
			Type.Unsafe<Record<string, Static<typeof PriceSchema>>>({
				type: 'object',
				additionalProperties: PriceSchema,
				maxProperties: 500,
				description: 'An object with {input, output} for each model by its name, and for all others under *.',
			}),
		),
		context_tokens: Type.Optional(
			Type.Integer({
				minimum: 512,
				maximum: 100_000_000,
				description: 'Tokens that a model reads and writes at once.',
			}),
		),
		max_output_tokens: Type.Optional(
			Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'Tokens that an answer has at most.' }),
		),
		first_token_timeout_ms: Type.Integer({
			minimum: 1,
			maximum: 600_000,
			default: TIMEOUTS.first_token_timeout_ms,
			description: 'Milliseconds until an answer must have begun, all attempts together.',
		}),
		idle_timeout_ms: Type.Integer({
			minimum: 1,
			maximum: 600_000,
			default: TIMEOUTS.idle_timeout_ms,
			description: 'Milliseconds that an answer may pause after it has begun.',
		}),
		temperature: Type.Optional(
			Type.Number({ minimum: 0, maximum: 2, description: 'From 0 to 2; without it, the provider decides.' }),
		),
	},
	{ additionalProperties: false, description: 'A provider is an object.' },
);

export type ProviderType = 'openai-compatible' | 'openai' | 'anthropic';
export type ProviderConfig = Static<typeof ProviderSchema>;

/** A provider of models with defaults filled in. */
export interface ProviderSettings {
	id: string;
	type: ProviderType;
	/** The URL before `/chat/completions` or `/messages`, without a slash at the end. */
	base_url: string;
	/** A secret that no log, error or response contains. Null for a service that needs none. */
	api_key: string | null;
	/** Null when the provider accepts any name. */
	models: readonly ModelSettings[] | null;
	/** By the name of the model; those of other models are under `*`. A model without a price has no known cost. */
	prices: ReadonlyMap<string, TokenPrice>;
	/** For a model that is not listed. */
	context_tokens: number;
	/** For a model that is not listed. Null: the provider decides. */
	max_output_tokens: number | null;
	/** Time limit for the first token, for all attempts together. */
	first_token_timeout_ms: number;
	/** Time limit between two chunks of an answer. */
	idle_timeout_ms: number;
	/** Null leaves it to the provider. */
	temperature: number | null;
}

/** The price of a model: micros of the currency (millionths of its unit) for a million tokens, whole numbers. */
export interface TokenPrice {
	input: number;
	output: number;
}

/** A listed model of a provider with defaults filled in. */
export interface ModelSettings {
	name: string;
	/** One sentence for people. */
	description: string | null;
	/** Tokens of prompt and answer together. */
	context_tokens: number;
	/** Null leaves it to the provider. */
	max_output_tokens: number | null;
}

/** The defaults of each type of provider. */
const DEFAULTS: { [type in ProviderType]: { base_url: string | null; context_tokens: number; output: number | null } } =
	{
		'openai-compatible': { base_url: null, context_tokens: 8_192, output: null },
		openai: { base_url: 'https://api.openai.com/v1', context_tokens: 128_000, output: null },
		// The protocol requires a number.
		anthropic: { base_url: 'https://api.anthropic.com/v1', context_tokens: 200_000, output: 8_192 },
	};

/** The sources from which providers are completed. */
export interface ProviderSources {
	configured: readonly ProviderConfig[];
	/** The keys of the two services that need no entry; undefined when not set. */
	keys: { openai: string | undefined; anthropic: string | undefined };
	/** The value of an environment variable. */
	variable(name: string): string | undefined;
}

/**
 * The providers of this server: the configured ones, and the two well-known services whose keys are set.
 * @param createError makes the error of a wrong entry from its path (`/providers/0/id`) and a clause without a full stop
 */
export function providersOf(
	{ configured, keys, variable }: ProviderSources,
	createError: (path: string, problem: string) => Error,
): ProviderSettings[] {
	const providers: ProviderSettings[] = [];
	for (const [index, entry] of configured.entries()) {
		const path = `/providers/${index}`;
		if (entry.id === 'builtin') throw createError(`${path}/id`, 'is the name of the built-in model');
		if (providers.some(({ id }) => id === entry.id))
			throw createError(`${path}/id`, 'is the name of another provider too');
		const base_url = entry.base_url ?? DEFAULTS[entry.type].base_url;
		if (base_url === null) throw createError(`${path}/base_url`, 'is missing');
		const api_key = keyOf(entry);
		if (api_key === undefined) throw createError(`${path}/api_key_env`, 'names a variable that is not set');
		if (api_key === null && entry.type !== 'openai-compatible') throw createError(`${path}/api_key_env`, 'is missing');
		if (api_key !== null && !isHeaderWord(api_key))
			throw createError(`${path}/api_key_env`, 'names what cannot be a key');
		for (const name of Object.keys(entry.prices ?? {})) {
			const isKnown = name === '*' || !entry.models || entry.models.some((model) => model.name === name);
			if (!isKnown)
				throw createError(`${path}/prices`, `has ${JSON.stringify(name)}, which is not listed in its models`);
		}
		providers.push(withDefaults(entry, base_url, api_key));
	}
	for (const type of ['openai', 'anthropic'] as const) {
		const api_key = keys[type];
		if (api_key === undefined || providers.some(({ id }) => id === type)) continue;
		providers.push(withDefaults({ id: type, type, ...TIMEOUTS }, DEFAULTS[type].base_url as string, api_key));
	}
	return providers;

	/** Null: the entry needs no key. Undefined: the key is missing. A well-known key is sent only to its own service by default. */
	function keyOf({ type, api_key_env, base_url }: ProviderConfig): string | null | undefined {
		if (api_key_env !== undefined) return variable(api_key_env)?.trim() || undefined;
		if (type === 'openai-compatible' || base_url !== undefined) return null;
		return keys[type] ?? null;
	}
}

function withDefaults(entry: ProviderConfig, baseUrl: string, apiKey: string | null): ProviderSettings {
	const { id, type, models, first_token_timeout_ms, idle_timeout_ms, temperature } = entry;
	const context_tokens = entry.context_tokens ?? DEFAULTS[type].context_tokens;
	const max_output_tokens = entry.max_output_tokens ?? DEFAULTS[type].output;
	const described = models?.map((model) => ({ description: null, context_tokens, max_output_tokens, ...model }));
	return {
		id,
		type,
		base_url: baseUrl.replace(/\/+$/, ''),
		api_key: apiKey,
		models: described ?? null,
		prices: pricesOf(entry),
		context_tokens,
		max_output_tokens,
		first_token_timeout_ms,
		idle_timeout_ms,
		temperature: temperature ?? null,
	};
}

function pricesOf({ prices = {} }: ProviderConfig): Map<string, TokenPrice> {
	const micros = (units: number) => Math.round(units * 1_000_000);
	return new Map(
		Object.entries(prices).map(([name, { input, output }]) => [name, { input: micros(input), output: micros(output) }]),
	);
}
