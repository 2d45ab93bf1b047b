import { lookup, Resolver } from 'node:dns/promises';

/** One address of a name. */
export interface ResolvedAddress {
	address: string;
	family: number;
}

/** Finds all addresses of a name. Rejects or resolves to an empty list if there are none. */
export type ResolveHost = (hostname: string) => Promise<ResolvedAddress[]>;

/** Time limit for a response of a name server. The second try has about twice as long. */
const QUERY_TIMEOUT_MS = 1_500;
const TRIES = 2;

/** Uses the resolver of the system, which also knows the hosts file and the names of the local network. */
export const systemResolver: ResolveHost = (hostname) => lookup(hostname, { all: true });

/**
 * Resolves a name of the public internet by DNS alone. The resolver of the system has two threads for slow lookups, so an
 * attacker with two names whose servers never respond could block all other lookups.
 * @param servers the name servers, by default the current ones of the system
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
