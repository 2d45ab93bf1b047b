import type { Network } from '../net/index.ts';
import { invalidRequestAt } from './invalid-request.ts';
import { PLACEHOLDER } from './placeholders.ts';

const BRACE = /[{}]/;

/** The scheme, slashes or backslashes or none, and the authority, as the URL Standard parses http and https. */
const ORIGIN_PREFIX = /^[^:]*:[/\\]*[^/\\?#]*/;

/** The value of placeholders while a URL is validated. */
const PLACEHOLDER_SAMPLE = 'x';

const HTTPS = { httpsOnly: true, path: '/config/url' } as const;

/**
 * Validates a URL with `{placeholders}`. They may be in its path or query, never in its scheme or authority.
 * @throws AppError `invalid_request`, `url_not_allowed`
 */
export function requireTemplateUrl(network: Pick<Network, 'checkUrl'>, url: string, parameters: object): void {
	const prefix = ORIGIN_PREFIX.exec(url)?.[0] ?? url;
	if (BRACE.test(prefix)) {
		throw invalidRequestAt(['config', 'url'], 'may hold placeholders only in its path and its query');
	}
	requirePlaceholders(['config', 'url'], url, parameters);
	if (BRACE.test(url.replaceAll(PLACEHOLDER, PLACEHOLDER_SAMPLE))) {
		throw invalidRequestAt(['config', 'url'], 'has a brace that belongs to no placeholder: write %7B or %7D');
	}
	network.checkUrl(url.replaceAll(PLACEHOLDER, PLACEHOLDER_SAMPLE), HTTPS);
}

/**
 * Validates a URL without placeholders.
 * @throws AppError `invalid_request`, `url_not_allowed`
 */
export function requirePlainUrl(network: Pick<Network, 'checkUrl'>, url: string): void {
	if (BRACE.test(url))
		throw invalidRequestAt(['config', 'url'], 'takes no placeholders here: write %7B and %7D for braces');
	network.checkUrl(url, HTTPS);
}

/** @throws AppError `invalid_request` where a placeholder is no property of the parameters */
export function requirePlaceholders(path: readonly string[], text: string, parameters: object): void {
	const { properties = {} } = parameters as { properties?: object };
	for (const [placeholder, name = ''] of text.matchAll(PLACEHOLDER)) {
		if (Object.hasOwn(properties, name)) continue;
		throw invalidRequestAt(path, `has the placeholder ${placeholder}, which is no property of /config/parameters`);
	}
}
