import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { AppError } from '../base/index.ts';
import { isPublicAddress } from './address.ts';

/** One address of a name. */
export interface ResolvedAddress {
	address: string;
	family: number;
}

/** Finds all addresses of a name. Rejects, or answers none, where there are none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

/** What the guard lets through. */
export interface GuardOptions {
	/** Lifts the two rules that addresses must be public and that some URLs must be https; all others stay. */
	allowPrivateNetwork: boolean;
	/** The system's resolver by default, which knows the hosts file too. */
	resolve?: Resolve;
	/** Which addresses may be connected to; `isPublicAddress` by default. */
	judge?: (address: string) => boolean;
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
export interface Guard {
	/**
	 * Judges what can be told without asking the network: syntax, scheme, literal addresses, reserved names.
	 * @throws AppError `url_not_allowed`
	 */
	checkUrl(url: string, rules?: UrlRules): URL;
	/** Opens connections, to judged addresses only, whatever the URL's name resolves to at another time. */
	readonly connect: buildConnector.connector;
}

const MAX_URL_LENGTH = 8_192;

/** Names that are set aside for the own machine or the own network (RFC 6761, RFC 6762, RFC 8375, ICANN's `.internal`). */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|home\.arpa)$/;

/** The guard of everything that goes out. */
export function createGuard(options: GuardOptions): Guard {
	const resolve = options.resolve ?? ((hostname) => systemLookup(hostname, { all: true }));
	const judge = options.allowPrivateNetwork ? () => true : (options.judge ?? isPublicAddress);

	/** Judges a host as it stands in a URL; a name may still turn out to have a forbidden address. */
	function checkHost(hostname: string): void {
		const host = hostname.replace(/^\[|\]$/g, '');
		const allowed = isIP(host) ? judge(host) : options.allowPrivateNetwork || !LOCAL_NAME.test(host.replace(/\.$/, ''));
		if (!allowed) throw notPublic(hostname);
	}

	function judgeUrl(text: string, rules: UrlRules): URL {
		if (text.length > MAX_URL_LENGTH) throw refused(`The URL is longer than ${MAX_URL_LENGTH} characters.`);
		let url: URL;
		try {
			url = new URL(text);
		} catch {
			throw refused('The URL is not a valid absolute URL.');
		}
		if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused('Only http and https URLs are allowed.');
		if (rules.httpsOnly && url.protocol !== 'https:' && !options.allowPrivateNetwork) {
			throw refused('Only https URLs are allowed here.');
		}
		if (url.username !== '' || url.password !== '') throw refused('A URL with a user name or password is not allowed.');
		checkHost(url.hostname);
		return url;
	}

	function checkUrl(text: string, rules: UrlRules = {}): URL {
		try {
			return judgeUrl(text, rules);
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
				if (!addresses.every(({ address }) => judge(address))) throw notPublic(hostname);
				const usable = addresses.filter((found) => !family || found.family === familyNumber(family));
				if (usable.length === 0) throw Object.assign(new Error(`no address of ${hostname}`), { code: 'ENOTFOUND' });
				return usable;
			})
			.catch((thrown: Error) => {
				throw options.allowPrivateNetwork ? thrown : notPublic(hostname, thrown);
			})
			.then(
				(usable) => (all ? callback(null, usable) : callback(null, usable[0]!.address, usable[0]!.family)),
				(thrown: Error) => callback(thrown, ''),
			);
	};

	const connector = buildConnector({ lookup, autoSelectFamily: true, timeout: options.connectTimeoutMs ?? 10_000 });
	return {
		checkUrl,
		connect(target, callback) {
			try {
				// A literal address never reaches `lookup`.
				checkHost(target.hostname);
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

function refused(message: string): AppError {
	return new AppError('url_not_allowed', message);
}

/** Tells neither the address nor whether there is one: the caller might be exploring our network. */
function notPublic(hostname: string, cause?: Error): AppError {
	const why = `The host ${hostname} is not on the public internet, or its name cannot be resolved`;
	return new AppError('url_not_allowed', `${why}: this server does not connect to it.`, { cause });
}
