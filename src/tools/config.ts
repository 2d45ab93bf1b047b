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
import { isSecretHeader, requireHeaderName, requireHeaders, requireHeaderValue } from './headers.ts';
import { invalidRequestAt } from './invalid-request.ts';
import { compileParameters } from './parameters/index.ts';
import { placeholderIn } from './placeholders.ts';
import { requireSizeLimits } from './size-limits.ts';
import { requirePlaceholders, requirePlainUrl, requireTemplateUrl } from './url.ts';

/** A complete configuration. */
export type ToolConfig = Tool['config'];

type ConfigInput = Record<string, unknown>;

const DEFAULT_TIMEOUT_MS = 10_000;
/** Visible ASCII: the credentials after the scheme in Authorization (RFC 9110, 11.4). */
const BEARER_TOKEN = /^[\x21-\x7e]+$/;
/** RFC 7617, 2. */
const USER_NAME = /^[^:\p{Cc}]*$/u;
const PASSWORD = /^\P{Cc}*$/u;

const readApi = bodyValidator(ApiToolConfigInput, '/config');
const readMcp = bodyValidator(McpToolConfigInput, '/config');

/**
 * Validates and completes a client's configuration.
 * @param stored the stored configuration: equal parameters are valid already
 * @throws AppError `invalid_request` or `url_not_allowed`, with details below `/config`
 */
export function completeConfig(
	type: Tool['type'],
	input: ConfigInput,
	network: Pick<Network, 'checkUrl'>,
	stored?: ToolConfig,
): ToolConfig {
	requireSizeLimits(input);
	return type === 'api' ? completeApi(readApi(input), network, stored) : completeMcp(readMcp(input), network);
}

/**
 * Applies a JSON merge patch (RFC 7396) to a configuration, except that another `type` of `auth` replaces the former `auth`
 * whole. The result is still to be completed.
 * @param config with its secrets hidden
 */
export function mergeConfig(config: ToolConfig, patch: ConfigInput): ConfigInput {
	requireSizeLimits(patch);
	const { auth } = patch as { auth?: { type?: unknown } | null };
	const isOtherAuthType = 'auth' in config && auth?.type !== undefined && auth.type !== config.auth.type;
	return applyMergePatch(isOtherAuthType ? { ...config, auth: {} } : config, patch);
}

function completeApi(
	input: ApiToolConfigInput,
	network: Pick<Network, 'checkUrl'>,
	stored: ToolConfig | undefined,
): ApiToolConfig {
	const config: ApiToolConfig = {
		method: input.method,
		url: input.url,
		headers: input.headers ?? {},
		query: input.query ?? {},
		body: input.body ?? null,
		parameters: input.parameters ?? { type: 'object', properties: {} },
		timeout_ms: input.timeout_ms ?? DEFAULT_TIMEOUT_MS,
		auth: input.auth ?? { type: 'none' },
	};
	const isStored =
		stored !== undefined && 'parameters' in stored && isDeepStrictEqual(stored.parameters, config.parameters);
	if (!isStored) compileParameters(config.parameters);
	requireTemplateUrl(network, config.url, config.parameters);
	for (const [name, value] of Object.entries(config.query)) {
		requirePlaceholders(['config', 'query', name], String(value), config.parameters);
	}
	if (config.method === 'GET' && config.body !== null) {
		throw invalidRequestAt(['config', 'body'], 'does not go with GET');
	}
	requireAuth(config.auth);
	requireHeaders(config.headers, authHeaderNames(config.auth));
	requireFixedSecrets(config);
	return config;
}

/** Credentials must not have placeholders: a model could choose its identity, and credentials could not be redacted in responses. */
function requireFixedSecrets({ headers, auth, parameters }: ApiToolConfig): void {
	const secret = Object.entries(headers).filter(([name]) => isSecretHeader(name));
	const { type: _, ...members } = auth;
	const fields = [
		...secret.map(([name, value]) => [['config', 'headers', name], value] as const),
		...Object.entries(members).map(([name, value]) => [['config', 'auth', name], value] as const),
	];
	for (const [path, value] of fields) {
		const placeholder = placeholderIn(value, parameters);
		if (placeholder === undefined) continue;
		throw invalidRequestAt(path, `is sent as it is, and cannot have the placeholder ${placeholder} of a parameter`);
	}
}

function completeMcp(input: McpToolConfigInput, network: Pick<Network, 'checkUrl'>): McpToolConfig {
	const config: McpToolConfig = {
		url: input.url,
		headers: input.headers ?? {},
		allowed_tools: input.allowed_tools ?? null,
		timeout_ms: input.timeout_ms ?? DEFAULT_TIMEOUT_MS,
	};
	requirePlainUrl(network, config.url);
	requireHeaders(config.headers, new Map());
	return config;
}

function requireAuth(auth: ToolAuth): void {
	const pathOf = (member: string) => ['config', 'auth', member];
	switch (auth.type) {
		case 'none':
			return;
		case 'bearer':
			if (!BEARER_TOKEN.test(auth.token))
				throw invalidRequestAt(pathOf('token'), 'must be of visible ASCII characters');
			return;
		case 'basic':
			if (!USER_NAME.test(auth.username)) {
				throw invalidRequestAt(pathOf('username'), 'must not have a colon or control characters');
			}
			if (!PASSWORD.test(auth.password)) throw invalidRequestAt(pathOf('password'), 'must not have control characters');
			return;
		case 'header':
			requireHeaderName(pathOf('name'), auth.name);
			requireHeaderValue(pathOf('value'), auth.value);
	}
}

/** The headers of the authentication, by lower-case name. They cannot be set elsewhere. */
function authHeaderNames(auth: ToolAuth): Map<string, string> {
	if (auth.type === 'none') return new Map();
	return new Map([[auth.type === 'header' ? auth.name.toLowerCase() : 'authorization', '/config/auth']]);
}
