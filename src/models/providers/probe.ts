import { AppError, messageOf } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import type { ChatRequest } from '../chat-model.ts';
import { ANTHROPIC_VERSION } from './anthropic/index.ts';
import { createProviders, type ProviderDependencies } from './create-providers.ts';
import { classifyFailure, ProviderError, type ProviderFailure, providerError } from './provider-failure.ts';
import type { ProviderSettings } from './settings.ts';

/** The outcome of a test of a provider. */
export interface ProbeOutcome {
	/** The test and its result, in one sentence. */
	sentence: string;
	/** A sentence that says what the operator can do; null: the test has passed. */
	remedy: string | null;
}

const LIST_TIMEOUT_MS = 30_000;
const MAX_DETAIL_CHARS = 300;

/**
 * Tests a provider with a small request: for a word of a model, if a name is known, otherwise for the list of its models.
 * @param model the name of a model if the settings list none; null for none
 */
export async function probeProvider(
	settings: ProviderSettings,
	model: string | null,
	dependencies: ProviderDependencies,
): Promise<ProbeOutcome> {
	const name = settings.models?.[0]?.name ?? model;
	const started = performance.now();
	const took = () => `${Math.round(performance.now() - started)} ms`;
	try {
		if (name === null) {
			await listModels(settings, dependencies.network);
			return { sentence: `The provider answers at ${settings.base_url}, within ${took()}.`, remedy: null };
		}
		await awaitFirstToken(settings, name, dependencies);
		return { sentence: `The model ${name} began to answer after ${took()}.`, remedy: null };
	} catch (error) {
		return failedProbe(error, name === null ? '' : ` The test asked the model ${name}.`);
	}
}

/** The outcome of a test that has failed. @param attempted what was asked for, as a sentence after a space; or empty */
export function failedProbe(error: unknown, attempted: string): ProbeOutcome {
	const failure = error instanceof AppError && error.cause instanceof ProviderError ? error.cause.failure : null;
	const detail = (failure?.detail ?? '').slice(0, MAX_DETAIL_CHARS);
	// Visitors do not see the detail.
	const operatorDetail = detail === '' || messageOf(error).includes(detail) ? '' : ` (${detail})`;
	return { sentence: `${messageOf(error)}${operatorDetail}${attempted}`, remedy: remedyOf(failure) };
}

function remedyOf(failure: ProviderFailure | null): string {
	switch (failure?.status) {
		case 401:
		case 403:
			return 'Correct the key in the variable that api_key_env names.';
		case 402:
			return 'Add credit at the provider, or use another one.';
		case 404:
			return 'Correct base_url and the name of the model in PARLEY_PROVIDERS.';
	}
	if (failure?.status == null && failure?.scope === 'provider') {
		return 'Start the provider, or correct base_url in PARLEY_PROVIDERS.';
	}
	if (failure?.isTransient) return 'Try again later, and look at the log of the provider.';
	return 'Look at the log of the provider, and correct its entry in PARLEY_PROVIDERS.';
}

async function awaitFirstToken(
	settings: ProviderSettings,
	model: string,
	dependencies: ProviderDependencies,
): Promise<void> {
	const request: ChatRequest = {
		model,
		instructions: 'This is a test of the connection.',
		history: [],
		question: 'Answer with the word: ok',
		passages: [],
		confidence: 0,
		tools: [],
		rounds: [],
	};
	const [provider] = createProviders([settings], dependencies);
	// The first word is proof enough. The rest is aborted, which is cheaper.
	const begun = new AbortController();
	const answered = provider?.chat.stream(request, begun.signal, ({ type }) => {
		if (type !== 'attempt_failed' && type !== 'attempt_repeated') begun.abort();
	});
	await answered?.catch((error: unknown) => {
		if (!begun.signal.aborted) throw error;
	});
	if (!begun.signal.aborted) throw new AppError('model_error', 'The model gave an empty answer.');
}

async function listModels(settings: ProviderSettings, network: Pick<Network, 'serviceClient'>): Promise<void> {
	await using endpoint = network.serviceClient(settings.base_url, { timeoutMs: LIST_TIMEOUT_MS });
	const key = settings.api_key;
	const headers: Record<string, string> =
		settings.type === 'anthropic'
			? { 'anthropic-version': ANTHROPIC_VERSION, ...(key === null ? {} : { 'x-api-key': key }) }
			: key === null
				? {}
				: { authorization: `Bearer ${key}` };
	try {
		const response = await endpoint.fetch(`${settings.base_url}/models`, { headers });
		await response.body?.cancel();
		if (response.status === 404) {
			throw providerError(`There is nothing at ${settings.base_url}/models.`, { status: 404 });
		}
		if (!response.ok) throw Object.assign(new Error(`status ${response.status}`), { statusCode: response.status });
	} catch (thrown) {
		const failed = classifyFailure(thrown, Date.now(), key);
		throw new AppError('model_error', failed.sentence, { cause: new ProviderError(failed) });
	}
}
