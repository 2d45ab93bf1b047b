import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { AppError } from '../base/index.ts';
import { CidrBlockList, isPublicAddress, isSameAddress } from './address.ts';
import { isPublicHostName } from './host-name.ts';
import { interfaceAddresses } from './interface-addresses.ts';
import { isBadPort } from './ports.ts';
import { dnsResolver, type ResolveHost, systemResolver } from './resolve.ts';

/** What the guard lets through. */
export interface SsrfGuardOptions {
	/** Lifts the two rules that addresses must be public and that some URLs must be https; all others stay. */
	allowPrivateNetwork: boolean;
	/** Addresses and CIDR blocks that are never connected to, private networks allowed or not. */
	refusedNetworks?: readonly string[];
	/** The DNS by default; where private networks are allowed the system's resolver, which knows the hosts file too. */
	resolve?: ResolveHost;
	/** Which addresses may be connected to; by default those that are public and none of this machine's own. */
	isAddressAllowed?: (address: string) => boolean;
	/** The addresses of this machine; by default those of its interfaces, at the time of asking. */
	interfaceAddresses?: () => string[];
	/** Milliseconds for finding the address, connecting and TLS. */
	connectTimeoutMs?: number;
}

/** What a URL must fulfil besides. */
export interface UrlRules {
	/** Only https. Lifted by `allowPrivateNetwork`. */
	httpsOnly?: boolean;
	/** Where the URL stands in a request, as a JSON Pointer: a refusal then names it. */
	path?: string;
}

/** Judges where this server may connect to. */
export interface SsrfGuard {
	/**
	 * Judges what can be told without asking the network: syntax, scheme, literal addresses, reserved names.
	 * @throws AppError `url_not_allowed`
	 */
	checkUrl(url: string, rules?: UrlRules): URL;
	/** Opens connections, to judged addresses only, whatever the URL's name resolves to at another time. */
	readonly connect: buildConnector.connector;
}

const MAX_URL_LENGTH = 8_192;
/** No website has so many; whoever owns a name may give it thousands, and have each of them judged. */
const MAX_ADDRESSES = 32;

/** A parser leaves some of them out without a word: whoever reads the URL sees another one than is fetched. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

/** The guard of everything that goes out. */
export function createSsrfGuard(options: SsrfGuardOptions): SsrfGuard {
	const { allowPrivateNetwork } = options;
	const resolve = options.resolve ?? (allowPrivateNetwork ? systemResolver : dnsResolver());
	const refusedNetworks = new CidrBlockList(options.refusedNetworks ?? []);
	const readInterfaceAddresses = options.interfaceAddresses ?? interfaceAddresses;
	const arePublicAndNotLocal = (addresses: readonly string[]) => {
		if (!addresses.every(isPublicAddress)) return false;
		// Asks the system, which takes longer than all the rest: once, however many addresses there are.
		const localAddresses = readInterfaceAddresses();
		return !addresses.some((address) => localAddresses.some((localAddress) => isSameAddress(localAddress, address)));
	};
	const passAddressRules = (addresses: readonly string[]) => {
		if (allowPrivateNetwork) return true;
		return options.isAddressAllowed ? addresses.every(options.isAddressAllowed) : arePublicAndNotLocal(addresses);
	};
	const areAddressesAllowed = (...addresses: string[]) =>
		!addresses.some((address) => refusedNetworks.has(address)) && passAddressRules(addresses);

	/** Judges where a URL leads, as it stands there; a name may still turn out to have a forbidden address. */
	function checkTarget({ hostname, port }: { hostname: string; port: string }): void {
		const host = hostname.replace(/^\[|\]$/g, '');
		const allowed = isIP(host) ? areAddressesAllowed(host) : allowPrivateNetwork || isPublicHostName(host);
		if (!allowed) throw notPublicError(hostname);
		if (isBadPort(port))
			throw urlNotAllowedError(`Port ${port} belongs to a service that is not on the web, and is not connected to.`);
	}

	function requireAllowedUrl(text: string, rules: UrlRules): URL {
		if (text.length > MAX_URL_LENGTH) throw urlNotAllowedError(`The URL is longer than ${MAX_URL_LENGTH} characters.`);
		if (CONTROL_CHARACTER.test(text) || !URL.canParse(text))
			throw urlNotAllowedError('The URL is not a valid absolute URL.');
		const url = new URL(text);
		if (url.protocol !== 'https:' && url.protocol !== 'http:')
			throw urlNotAllowedError('Only http and https URLs are allowed.');
		if (rules.httpsOnly && url.protocol !== 'https:' && !allowPrivateNetwork) {
			throw urlNotAllowedError('Only https URLs are allowed here.');
		}
		if (url.username !== '' || url.password !== '')
			throw urlNotAllowedError('A URL with a user name or password is not allowed.');
		checkTarget(url);
		return url;
	}

	function checkUrl(text: string, rules: UrlRules = {}): URL {
		try {
			return requireAllowedUrl(text, rules);
		} catch (thrown) {
			if (!(thrown instanceof AppError) || rules.path === undefined) throw thrown;
			const details = [{ path: rules.path, message: thrown.message }];
			throw new AppError(thrown.code, thrown.message, { details, cause: thrown });
		}
	}

	// The socket connects to the very addresses that were judged here: nothing resolves the name a second time.
	const lookup: LookupFunction = (hostname, { all, family }, callback) => {
		resolve(hostname)
			.then((addresses) => {
				// A service of an intranet may well run on more machines.
				if (addresses.length > MAX_ADDRESSES && !allowPrivateNetwork) throw notPublicError(hostname);
				if (!areAddressesAllowed(...addresses.map(({ address }) => address))) throw notPublicError(hostname);
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

	const connector = buildConnector({
		lookup,
		autoSelectFamily: true,
		// HTTP/2 would let one connection serve several names.
		allowH2: false,
		timeout: options.connectTimeoutMs ?? 10_000,
	});
	return {
		checkUrl,
		connect(target, callback) {
			try {
				// A literal address never reaches `lookup`.
				checkTarget(target);
			} catch (thrown) {
				callback(thrown as Error, null);
				return;
			}
			connector(target, callback);
		},
	};
}

function familyNumber(family: number | 'IPv4' | 'IPv6'): number {
	if (typeof family === 'number') return family;
	return family === 'IPv4' ? 4 : 6;
}

function urlNotAllowedError(message: string): AppError {
	return new AppError('url_not_allowed', message);
}

/** Tells neither the address nor whether there is one: the caller might be exploring our network. */
function notPublicError(hostname: string, cause?: Error): AppError {
	const why = `The host ${hostname} is not on the public internet, or its name cannot be resolved`;
	return new AppError('url_not_allowed', `${why}: this server does not connect to it.`, { cause });
}
