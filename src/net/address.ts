import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type CidrBlock = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Of IPv6, only this block is given out as global unicast so far (IANA IPv6 Address Space). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Azure's WireServer: a public address by its number, which from within Azure leads to the host below the machine. */
const AZURE_HOST = '168.63.129.16';

/** The first half of an interface identifier that holds an IPv4 address to tunnel to (ISATAP; RFC 5214, 6.1), by its u bit. */
const ISATAP = new Set([0x0000_5efe, 0x0200_5efe]);

/**
 * Whether an IP address is global unicast: it belongs to no block of IANA's special-purpose registries (private, loopback,
 * link-local, shared, documentation, benchmarking, multicast, reserved, translation and tunnels such as NAT64, 6to4, Teredo),
 * those blocks included that the registries call globally reachable: they are services of a network's own (PCP, TURN, AMT,
 * AS112), none of them a website. An IPv4-mapped address is judged as the IPv4 address. What is not an address in its plain
 * form is not public. The prefix that a network chose for its own NAT64 or 6rd looks like any other: only its operator
 * knows it.
 */
export function isPublicAddress(address: string): boolean {
	const parsed = parseAddress(address);
	if (parsed === null || parsed.range() !== 'unicast') return false;
	if (parsed instanceof ipaddr.IPv4) return parsed.toString() !== AZURE_HOST;
	const [, , , , high = 0, low = 0] = parsed.parts;
	return parsed.match(GLOBAL_UNICAST) && !ISATAP.has(high * 0x1_0000 + low);
}

/** Blocks of addresses, to be asked whether an address is in one of them; an IPv4-mapped one is the IPv4 address. */
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

/** Whether two texts are the same address, in whatever spelling. */
export function isSameAddress(one: string, other: string): boolean {
	const parsed = parseAddress(one);
	return parsed !== null && parsed.toString() === parseAddress(other)?.toString();
}

function parseBlock(entry: string): CidrBlock {
	const [address = '', bits, ...rest] = entry.split('/');
	const first = parseAddress(address);
	// The bits of an IPv4-mapped block count those that are the same for all of IPv4.
	const before = first?.kind() === 'ipv4' && address.includes(':') ? 96 : 0;
	const all = first?.kind() === 'ipv4' ? 32 : 128;
	const length = bits === undefined ? all : Number(bits) - before;
	if (first === null || rest.length > 0 || bits === '' || !(length >= 0 && length <= all)) {
		throw new TypeError(`"${entry}" is neither an IP address nor a block of them in CIDR notation.`);
	}
	return [first, length];
}

/** An address in its plain form, unwrapped where it is IPv4-mapped; null for anything else. */
function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
	// The library reads older spellings and zones too; what connects takes none of them, so neither does this.
	if (isIP(address) === 0 || address.includes('%')) return null;
	// It also takes the deprecated IPv4-compatible form, `::1.2.3.4`, for an IPv4-mapped one.
	if (/^::\d+\./.test(address)) return null;
	return ipaddr.process(address);
}
