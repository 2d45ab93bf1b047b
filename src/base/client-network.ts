import ipaddr from 'ipaddr.js';

/** Groups of an IPv6 address that name the network: /64, the smallest that a site gets (RFC 6177). */
const NETWORK_PREFIX_GROUPS = 4;

/**
 * The network of a client address. An IPv6 client has 2^64 addresses, so all addresses of one /64 count as one client.
 * @param address as text; an IPv4-mapped address counts as IPv4
 */
export function clientNetwork(address: string): string {
	if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address;
	const parsed = ipaddr.IPv6.parse(address);
	if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
	const network = parsed.parts.slice(0, NETWORK_PREFIX_GROUPS);
	return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}
