import { isDeepStrictEqual } from 'node:util';
import { applyMergePatch } from '../base/index.ts';
import {
	type ApiToolConfig,
	ApiToolConfigInput,
	bodyValidator,
	type McpToolConfig,
	McpToolConfigInput,
	type Tool,
	type ToolAuth,
} from '../contract/index.ts';
import type { Network } from '../net/index.ts';
import { requireBounds } from './bounds.ts';
import { isSecretHeader, requireHeaderName, requireHeaders, requireHeaderValue } from './headers.ts';
import { compileParameters } from './parameters/index.ts';
import { placeholderIn } from './placeholders.ts';
import { refusedAt } from './refusal.ts';
import { requirePlaceholders, requirePlainUrl, requireTemplateUrl } from './url.ts';

/** How a tool is called, whole. */
export type ToolConfig = Tool['config'];

type Given = Record<string, unknown>;

const DEFAULT_TIMEOUT_MS = 10_000;
/** Visible ASCII: what goes behind a scheme in Authorization (RFC 9110, 11.4). */
const TOKEN = /^[\x21-\x7e]+$/;
/** RFC 7617, 2. */
const USER_NAME = /^[^:\p{Cc}]*$/u;
const PASSWORD = /^\P{Cc}*$/u;

const readApi = bodyValidator(ApiToolConfigInput, '/config');
const readMcp = bodyValidator(McpToolConfigInput, '/config');

/**
 * A configuration as clients give it, judged and completed.
 * @param stored what is stored so far: parameters that are the same were judged then
 * @throws AppError `invalid_request` or `url_not_allowed`, with details below `/config`
 */
export function completeConfig(
	type: Tool['type'],
	given: Given,
	network: Pick<Network, 'checkUrl'>,
	stored?: ToolConfig,
): ToolConfig {
	requireBounds(given);
	return type === 'api' ? completeApi(readApi(given), network, stored) : completeMcp(readMcp(given), network);
}

/**
 * What a change makes of a configuration: a JSON merge patch (RFC 7396), except that another `type` of `auth` begins anew,
 * without what the one before was made of. Still to be completed.
 * @param config with its secrets hidden
 */
export function mergeConfig(config: ToolConfig, patch: Given): Given {
	requireBounds(patch);
	const { auth } = patch as { auth?: { type?: unknown } | null };
	const isOther = 'auth' in config && auth?.type !== undefined && auth.type !== config.auth.type;
	return applyMergePatch(isOther ? { ...config, auth: {} } : config, patch);
}

function completeApi(
	given: ApiToolConfigInput,
	network: Pick<Network, 'checkUrl'>,
	stored: ToolConfig | undefined,
): ApiToolConfig {
	const config: ApiToolConfig = {
		method: given.method,
		url: given.url,
		headers: given.headers ?? {},
		query: given.query ?? {},
		body: given.body ?? null,
		parameters: given.parameters ?? { type: 'object', properties: {} },
		timeout_ms: given.timeout_ms ?? DEFAULT_TIMEOUT_MS,
		auth: given.auth ?? { type: 'none' },
	};
	const isStored =
		stored !== undefined && 'parameters' in stored && isDeepStrictEqual(stored.parameters, config.parameters);
	if (!isStored) compileParameters(config.parameters);
	requireTemplateUrl(network, config.url, config.parameters);
	for (const [name, value] of Object.entries(config.query)) {
		requirePlaceholders(['config', 'query', name], String(value), config.parameters);
	}
	if (config.method === 'GET' && config.body !== null) {
		throw refusedAt(['config', 'body'], 'does not go with GET');
	}
	requireAuth(config.auth);
	requireHeaders(config.headers, headersOf(config.auth));
	requireFixedSecrets(config);
	return config;
}

/** What says who calls is the operator's to know: a model that fills it in would say who it is, and answers could not be cleaned. */
function requireFixedSecrets({ headers, auth, parameters }: ApiToolConfig): void {
	const secret = Object.entries(headers).filter(([name]) => isSecretHeader(name));
	const { type: _, ...members } = auth;
	const places = [
		...secret.map(([name, value]) => [['config', 'headers', name], value] as const),
		...Object.entries(members).map(([name, value]) => [['config', 'auth', name], value] as const),
	];
	for (const [place, value] of places) {
		const placeholder = placeholderIn(value, parameters);
		if (placeholder === undefined) continue;
		throw refusedAt(place, `is sent as it is, and cannot have the placeholder ${placeholder} of a parameter`);
	}
}

function completeMcp(given: McpToolConfigInput, network: Pick<Network, 'checkUrl'>): McpToolConfig {
	const config: McpToolConfig = {
		url: given.url,
		headers: given.headers ?? {},
		allowed_tools: given.allowed_tools ?? null,
		timeout_ms: given.timeout_ms ?? DEFAULT_TIMEOUT_MS,
	};
	requirePlainUrl(network, config.url);
	requireHeaders(config.headers, new Map());
	return config;
}

function requireAuth(auth: ToolAuth): void {
	const at = (member: string) => ['config', 'auth', member];
	switch (auth.type) {
		case 'none':
			return;
		case 'bearer':
			if (!TOKEN.test(auth.token)) throw refusedAt(at('token'), 'must be of visible ASCII characters');
			return;
		case 'basic':
			if (!USER_NAME.test(auth.username)) {
				throw refusedAt(at('username'), 'must not have a colon or control characters');
			}
			if (!PASSWORD.test(auth.password)) throw refusedAt(at('password'), 'must not have control characters');
			return;
		case 'header':
			requireHeaderName(at('name'), auth.name);
			requireHeaderValue(at('value'), auth.value);
	}
}

/** The headers that say who calls, by lower-case name: nobody else sets them. */
function headersOf(auth: ToolAuth): Map<string, string> {
	if (auth.type === 'none') return new Map();
	return new Map([[auth.type === 'header' ? auth.name.toLowerCase() : 'authorization', '/config/auth']]);
}
