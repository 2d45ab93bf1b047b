import { lookup, Resolver } from 'node:dns/promises';

/** One address of a name. */
export interface ResolvedAddress {
	address: string;
	family: number;
}

/** Finds all addresses of a name. Rejects, or answers none, where there are none. */
export type ResolveHost = (hostname: string) => Promise<ResolvedAddress[]>;

/** How long a name server is waited for, the second time about twice as long. */
const QUERY_TIMEOUT_MS = 1_500;
const TRIES = 2;

/** Asks the system, which knows the hosts file and the names of the own network too. */
export const systemResolver: ResolveHost = (hostname) => lookup(hostname, { all: true });

/**
 * Asks the DNS, and nothing else, for a name of the public internet. Not the system: it has two threads for all names that
 * are slow to find, so that the owner of two names whose servers never answer could hold up every other.
 * @param servers to ask, by default those of the system as they are now
 */
export function dnsResolver(servers?: readonly string[]): ResolveHost {
	return async (hostname) => {
		const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES });
		if (servers) resolver.setServers(servers);
		const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
		const found = [
			...(four.status === 'fulfilled' ? four.value : []),
			...(six.status === 'fulfilled' ? six.value : []),
		];
		if (found.length === 0 && four.status === 'rejected') throw four.reason;
		return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
	};
}
