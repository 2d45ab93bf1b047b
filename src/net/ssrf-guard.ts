import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { AppError, parseUrl } from '../base/index.ts';
import { type AddressRuleOptions, createAddressRules } from './address-rules.ts';
import { isPublicHostName } from './host-name.ts';
import { isBadPort } from './ports.ts';
import { dnsResolver, type ResolveHost, systemResolver } from './resolve.ts';

/** What the guard allows. */
export interface SsrfGuardOptions extends AddressRuleOptions {
	/** Disables two rules: that addresses must be public and that some URLs must be https. All other rules still apply. */
	allowPrivateNetwork: boolean;
	/** By default DNS; if private networks are allowed, the resolver of the system, which also knows the hosts file. */
	resolve?: ResolveHost;
	/** Milliseconds for DNS, connection and TLS. */
	connectTimeoutMs?: number;
}

/** Additional rules for a URL. */
export interface UrlRules {
	/** Only https. `allowPrivateNetwork` disables the rule. */
	httpsOnly?: boolean;
	/** The position of the URL in a request, as a JSON Pointer, for the details of the error. */
	path?: string;
}

/** Decides which URLs and addresses this server may connect to. */
export interface SsrfGuard {
	/**
	 * Checks what needs no request to the network: syntax, scheme, literal addresses, reserved names.
	 * @throws AppError `url_not_allowed`
	 */
	checkUrl(url: string, rules?: UrlRules): URL;
	/** Opens connections to checked addresses only. A name that resolves differently at another time makes no difference. */
	readonly connect: buildConnector.connector;
}

const MAX_URL_LENGTH = 8_192;
/** No website has more. The owner of a name could give it thousands, and each costs a check. */
const MAX_ADDRESSES = 32;

/** A URL parser silently drops some of them, so a person would read another URL than the fetched one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

/** Makes the guard of all outgoing connections. */
export function createSsrfGuard(options: SsrfGuardOptions): SsrfGuard {
	const { allowPrivateNetwork } = options;
	const areAddressesAllowed = createAddressRules(options);
	const urlCheck = new UrlCheck(allowPrivateNetwork, areAddressesAllowed);
	const resolve = options.resolve ?? (allowPrivateNetwork ? systemResolver : dnsResolver());
	const connector = buildConnector({
		lookup: checkedLookup(resolve, allowPrivateNetwork, areAddressesAllowed),
		autoSelectFamily: true,
		// With HTTP/2, one connection could serve several names.
		allowH2: false,
		timeout: options.connectTimeoutMs ?? 10_000,
	});
	return {
		checkUrl: (url, rules) => urlCheck.checkUrl(url, rules),
		connect(target, callback) {
			try {
				// Node does not call `lookup` for a literal address.
				urlCheck.checkTarget(target);
			} catch (thrown) {
				callback(thrown as Error, null);
				return;
			}
			connector(target, callback);
		},
	};
}

/** The rules for a URL that need no request to the network. */
class UrlCheck {
	readonly #allowPrivateNetwork: boolean;
	readonly #areAddressesAllowed: (addresses: readonly string[]) => boolean;

	constructor(allowPrivateNetwork: boolean, areAddressesAllowed: (addresses: readonly string[]) => boolean) {
		this.#allowPrivateNetwork = allowPrivateNetwork;
		this.#areAddressesAllowed = areAddressesAllowed;
	}

	checkUrl(text: string, rules: UrlRules = {}): URL {
		try {
			return this.#requireAllowedUrl(text, rules);
		} catch (thrown) {
			if (!(thrown instanceof AppError) || rules.path === undefined) throw thrown;
			const details = [{ path: rules.path, message: thrown.message }];
			throw new AppError(thrown.code, thrown.message, { details, cause: thrown });
		}
	}

	/** Checks host and port. The addresses of a name are checked when it is resolved. */
	checkTarget({ hostname, port }: { hostname: string; port: string }): void {
		const host = hostname.replace(/^\[|\]$/g, '');
		const allowed = isIP(host)
			? this.#areAddressesAllowed([host])
			: this.#allowPrivateNetwork || isPublicHostName(host);
		if (!allowed) throw notPublicError(hostname);
		if (isBadPort(port))
			throw urlNotAllowedError(`Port ${port} belongs to a service that is not on the web, and is not connected to.`);
	}

	#requireAllowedUrl(text: string, rules: UrlRules): URL {
		if (text.length > MAX_URL_LENGTH) throw urlNotAllowedError(`The URL is longer than ${MAX_URL_LENGTH} characters.`);
		const url = CONTROL_CHARACTER.test(text) ? null : parseUrl(text);
		if (url === null) throw urlNotAllowedError('The URL is not a valid absolute URL.');
		if (url.protocol !== 'https:' && url.protocol !== 'http:')
			throw urlNotAllowedError('Only http and https URLs are allowed.');
		if (rules.httpsOnly && url.protocol !== 'https:' && !this.#allowPrivateNetwork) {
			throw urlNotAllowedError('Only https URLs are allowed here.');
		}
		if (url.username !== '' || url.password !== '')
			throw urlNotAllowedError('A URL with a user name or password is not allowed.');
		this.checkTarget(url);
		return url;
	}
}

/** The socket connects to the addresses that are checked here. The name is not resolved a second time. */
function checkedLookup(
	resolve: ResolveHost,
	allowPrivateNetwork: boolean,
	areAddressesAllowed: (addresses: readonly string[]) => boolean,
): LookupFunction {
	return (hostname, { all, family }, callback) => {
		resolve(hostname)
			.then((addresses) => {
				// A service in an intranet may run on more machines.
				if (addresses.length > MAX_ADDRESSES && !allowPrivateNetwork) throw notPublicError(hostname);
				if (!areAddressesAllowed(addresses.map(({ address }) => address))) throw notPublicError(hostname);
				const usable = addresses.filter((found) => !family || found.family === familyNumber(family));
				if (usable.length === 0) throw Object.assign(new Error(`no address of ${hostname}`), { code: 'ENOTFOUND' });
				return usable;
			})
			.catch((thrown: Error) => {
				throw allowPrivateNetwork ? thrown : notPublicError(hostname, thrown);
			})
			.then(
				(usable) => (all ? callback(null, usable) : callback(null, usable[0]!.address, usable[0]!.family)),
				(thrown: Error) => callback(thrown, ''),
			);
	};
}

function familyNumber(family: number | 'IPv4' | 'IPv6'): number {
	if (typeof family === 'number') return family;
	return family === 'IPv4' ? 4 : 6;
}

function urlNotAllowedError(message: string): AppError {
	return new AppError('url_not_allowed', message);
}

/** Reveals neither the address nor whether there is one: the caller might be exploring the operator's network. */
function notPublicError(hostname: string, cause?: Error): AppError {
	const why = `The host ${hostname} is not on the public internet, or its name cannot be resolved`;
	return new AppError('url_not_allowed', `${why}: this server does not connect to it.`, { cause });
}
