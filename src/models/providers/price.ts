import { costOf, type ModelPrice } from '../price.ts';
import { RESERVED_REPLY_TOKENS } from './prompt.ts';
import { limitsOf, type ProviderSettings } from './settings.ts';

/** Input tokens that are reserved for a call, beside the question. The prompt of a call with a reservation is limited to them. */
const RESERVED_INPUT_TOKENS = 16_000;

/** The price of a model by its name within the provider; null without one. */
export function priceOf(settings: ProviderSettings, model: string): ModelPrice | null {
	const price = settings.prices.get(model) ?? settings.prices.get('*');
	if (price === undefined) return null;
	const { context_tokens, max_output_tokens } = limitsOf(settings, model);
	const reserved_tokens = {
		input_tokens: Math.min(context_tokens, RESERVED_INPUT_TOKENS),
		output_tokens: max_output_tokens ?? RESERVED_REPLY_TOKENS,
		context_tokens,
	};
	return { ...price, reserved_micros: costOf(price, reserved_tokens), reserved_tokens };
}
