import { AppError, parseUrl } from '../base/index.ts';

/** One entry of an allowlist, with the syntax of a Content-Security-Policy host-source. */
export interface HostSource {
	/** `http`, `https`, or null for both. */
	scheme: string | null;
	/** Lower case, punycode; without the `*.` of a wildcard. */
	host: string;
	wildcard: boolean;
	/** A number without leading zeros, `*` for any, or null for the scheme's default. */
	port: string | null;
}

/** Decides whether an origin may embed a deployment. */
export interface Allowlist {
	/** @param origin the Origin header, or the origin of a Referer */
	allows(origin: string): boolean;
}

const ENTRY = /^(?:(https?):\/\/)?(\*\.(?!\[))?([^/:*?#@%\\\s[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}|\*))?$/i;
/** A host as the URL parser writes it. Host names of websites have no other punctuation. */
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])$/;
const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1']);

/**
 * Parses one entry.
 * @param at its index in the list
 * @throws AppError `invalid_request` with the reason
 */
export function parseEntry(entry: string, at: number): HostSource | '*' {
	if (entry === '*') return '*';
	const match = ENTRY.exec(entry);
	if (!match) {
		const forms = 'example.com, *.example.com, example.com:8443 or https://example.com, without a path';
		throw invalidEntry(at, `"${entry}" is not a domain. Write ${forms}.`);
	}
	const [, scheme, star, name, port = null] = match;
	const host = parseUrl(`http://${name}`)?.hostname ?? '';
	const number = Number(port ?? 1);
	if (!HOST.test(host) || (port !== '*' && (number < 1 || number > 65_535))) {
		throw invalidEntry(at, `"${entry}" is not a valid domain.`);
	}
	return {
		scheme: scheme?.toLowerCase() ?? null,
		host,
		wildcard: star !== undefined,
		port: port === null || port === '*' ? port : String(number),
	};
}

function invalidEntry(at: number, message: string): AppError {
	return new AppError('invalid_request', message, { details: [{ path: `/allowed_domains/${at}`, message }] });
}

/** @throws AppError `invalid_request` for a malformed entry */
export function createAllowlist(entries: readonly string[]): Allowlist {
	return new HostSources(entries.map(parseEntry));
}

/** Allowed origins that are cached. */
const ORIGIN_CACHE_SIZE = 100;

class HostSources implements Allowlist {
	readonly #allowsAny: boolean;
	readonly #sources: readonly HostSource[];
	/** Few origins embed a deployment, most often one, each with many requests. */
	#lastAllowed: string | undefined = undefined;
	#allowedOrigins: Set<string> | undefined = undefined;

	constructor(sources: readonly (HostSource | '*')[]) {
		this.#allowsAny = sources.includes('*');
		this.#sources = sources.filter((source) => source !== '*');
	}

	allows(origin: string): boolean {
		if (origin === this.#lastAllowed) return true;
		if (!this.#allowedOrigins?.has(origin)) {
			if (!matches(origin, this.#allowsAny, this.#sources)) return false;
			this.#remember(origin);
		}
		this.#lastAllowed = origin;
		return true;
	}

	#remember(origin: string): void {
		// The cache is created when it is needed: a resident deployment should be small.
		if (this.#lastAllowed === undefined) return;
		this.#allowedOrigins ??= new Set([this.#lastAllowed]);
		if (this.#allowedOrigins.size < ORIGIN_CACHE_SIZE) this.#allowedOrigins.add(origin);
	}
}

function matches(origin: string, any: boolean, sources: readonly HostSource[]): boolean {
	const url = parseUrl(origin);
	if (url === null) return false;
	const { protocol, hostname, port, origin: normal } = url;
	if ((protocol !== 'http:' && protocol !== 'https:') || hostname.endsWith('.')) return false;
	// A browser's Origin has scheme, host and port as the URL parser writes them; anything else is rejected.
	if (origin.toLowerCase() !== normal) return false;
	if (any) return true;
	const scheme = protocol.slice(0, -1);
	return sources.some(
		(source) =>
			(source.scheme === null || source.scheme === scheme) &&
			hostMatches(source, hostname) &&
			portMatches(source, scheme, port),
	);
}

function hostMatches({ host, wildcard }: HostSource, hostname: string): boolean {
	return wildcard ? hostname.endsWith(`.${host}`) && hostname.length > host.length + 1 : hostname === host;
}

/** @param port empty for the scheme's default, as the URL parser leaves it */
function portMatches(source: HostSource, scheme: string, port: string): boolean {
	if (source.port === '*') return true;
	if (source.port === null) return port === '' || (LOCAL_HOSTS.has(source.host) && !source.wildcard);
	return source.port === (port || (scheme === 'https' ? '443' : '80'));
}
