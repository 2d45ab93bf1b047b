import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type CidrBlock = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** The only block of IPv6 that is allocated as global unicast so far (IANA IPv6 Address Space). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Azure's WireServer: its number is a public address, but within Azure it leads to the host of the virtual machine. */
const AZURE_HOST = '168.63.129.16';

/**
 * The first half of an interface identifier that holds an IPv4 address to tunnel to (ISATAP; RFC 5214, 6.1), by its u bit.
 */
const ISATAP = new Set([0x0000_5efe, 0x0200_5efe]);

/**
 * Whether an IP address is global unicast: it belongs to no block of IANA's special-purpose registries (private, loopback,
 * link-local, shared, documentation, benchmarking, multicast, reserved, translation and tunnels such as NAT64, 6to4,
 * Teredo), including the blocks that the registries call globally reachable: those are services of a network itself (PCP,
 * TURN, AMT, AS112), and no websites. An IPv4-mapped address is checked as the IPv4 address. A text that is not an address
 * in its plain form is not public. A prefix that a network chose for its NAT64 or 6rd cannot be recognised: only its
 * operator knows it.
 */
export function isPublicAddress(address: string): boolean {
	const parsed = parseAddress(address);
	if (parsed === null || parsed.range() !== 'unicast') return false;
	if (parsed instanceof ipaddr.IPv4) return parsed.toString() !== AZURE_HOST;
	const [, , , , high = 0, low = 0] = parsed.parts;
	return parsed.match(GLOBAL_UNICAST) && !ISATAP.has(high * 0x1_0000 + low);
}

/** Blocks of addresses. An IPv4-mapped address counts as the IPv4 address. */
export class CidrBlockList {
	readonly #blocks: readonly CidrBlock[];

	/**
	 * @param entries IP addresses, and blocks of them in CIDR notation
	 * @throws TypeError for anything else
	 */
	constructor(entries: readonly string[]) {
		this.#blocks = entries.map(parseBlock);
	}

	has(address: string): boolean {
		const parsed = parseAddress(address);
		if (parsed === null) return false;
		return this.#blocks.some(([first, bits]) => first.kind() === parsed.kind() && parsed.match(first, bits));
	}
}

/** Whether two texts are spellings of the same address. */
export function isSameAddress(one: string, other: string): boolean {
	const parsed = parseAddress(one);
	return parsed !== null && parsed.toString() === parseAddress(other)?.toString();
}

function parseBlock(entry: string): CidrBlock {
	const [address = '', bits, ...rest] = entry.split('/');
	const first = parseAddress(address);
	// The prefix length of an IPv4-mapped block includes the 96 bits that all of IPv4 shares.
	const before = first?.kind() === 'ipv4' && address.includes(':') ? 96 : 0;
	const all = first?.kind() === 'ipv4' ? 32 : 128;
	const length = bits === undefined ? all : Number(bits) - before;
	if (first === null || rest.length > 0 || bits === '' || !(length >= 0 && length <= all)) {
		throw new TypeError(`"${entry}" is neither an IP address nor a block of them in CIDR notation.`);
	}
	return [first, length];
}

/** An address in its plain form, as IPv4 where it is IPv4-mapped; null for any other text. */
function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
	// The library also reads older spellings and zones. Node connects to none of them, so they are refused.
	if (isIP(address) === 0 || address.includes('%')) return null;
	// The library also reads the deprecated IPv4-compatible form `::1.2.3.4` as IPv4-mapped.
	if (/^::\d+\./.test(address)) return null;
	return ipaddr.process(address);
}
