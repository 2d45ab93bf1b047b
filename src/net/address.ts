import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Of IPv6, only this block is given out as global unicast so far (IANA IPv6 Address Space). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an IP address is global unicast: it belongs to no block of IANA's special-purpose registries (private, loopback,
 * link-local, shared, documentation, benchmarking, multicast, reserved, translation and tunnels such as NAT64, 6to4, Teredo).
 * An IPv4-mapped address is judged as the IPv4 address. What is not an address in its plain form is not public.
 */
export function isPublicAddress(address: string): boolean {
	// The library reads older spellings and zones too; what connects takes none of them, so neither does this.
	if (isIP(address) === 0 || address.includes('%')) return false;
	// It also takes the deprecated IPv4-compatible form, `::1.2.3.4`, for an IPv4-mapped one.
	if (/^::\d+\./.test(address)) return false;
	const parsed = ipaddr.process(address);
	if (parsed.range() !== 'unicast') return false;
	return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}
