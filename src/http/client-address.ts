import ipaddr from 'ipaddr.js';

type CidrBlock = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Determines the client's address from the socket's and, behind trusted proxies, the X-Forwarded-For header. Empty where a trusted proxy
 * has written something else than an address: the proxy's own may have rights that the client has not.
 * @param peer returns the socket's peer address; this call of the HTTP library costs a fifth of a small response
 */
export type ClientAddress = (peer: () => string, forwardedFor: string | undefined) => string;

/** Addresses that only programs on this machine can connect to. */
const LOOPBACK = ['127.0.0.1', '::1'];

/**
 * @param trustedProxies addresses and CIDR ranges whose X-Forwarded-For is trusted
 * @param listenAddress the server's own address. If only programs on this machine can connect to it and this address is
 * trusted, then all peers are: each program on this machine can use the trusted address
 * @throws Error that names an entry which is neither an address nor a range
 */
export function createClientAddress(trustedProxies: readonly string[], listenAddress?: string): ClientAddress {
	const blocks = trustedProxies.map((entry) => parseCidrBlock(entry.trim()));
	if (blocks.length === 0) return (peer) => peer();
	const ranges = blocks.flatMap(ipv4RangeOf);
	const isTrusted = (address: string): boolean => {
		const number = ipv4Number(address);
		if (number >= 0) return ranges.some(({ first, last }) => number >= first && number <= last);
		if (!ipaddr.isValid(address)) return false;
		const parsed = ipaddr.process(address);
		return blocks.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match([base, bits] as never));
	};
	const isEveryPeerTrusted =
		listenAddress !== undefined && LOOPBACK.includes(listenAddress) && isTrusted(listenAddress);
	return (peer, forwardedFor) => {
		if (forwardedFor === undefined || forwardedFor === '' || !(isEveryPeerTrusted || isTrusted(peer()))) return peer();
		// Each proxy appends the address of its peer. Only the entries from the right that trusted proxies wrote are reliable;
		// entries further left were sent by the client and may be forged.
		let client: string | undefined;
		let end = forwardedFor.length;
		while (end >= 0) {
			const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(',', end - 1);
			const hop = parseForwardedEntry(forwardedFor.slice(comma + 1, end));
			if (hop === null) return '';
			client = hop;
			if (!isTrusted(hop)) return hop;
			end = comma;
		}
		return client ?? peer();
	};
}

function parseCidrBlock(entry: string): CidrBlock {
	try {
		if (!entry.includes('/')) {
			const address = ipaddr.process(entry);
			return [address, address.kind() === 'ipv4' ? 32 : 128];
		}
		const [base, bits] = ipaddr.parseCIDR(entry);
		if (base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= 96) {
			return [base.toIPv4Address(), bits - 96];
		}
		return [base, bits];
	} catch (cause) {
		throw new Error(`"${entry}" is neither an IP address nor a CIDR range.`, { cause });
	}
}

/** The first and last address of an IPv4 network, as numbers; empty for an IPv6 network. */
function ipv4RangeOf([base, bits]: CidrBlock): { first: number; last: number }[] {
	const text = base.toString();
	const size = 2 ** (32 - bits);
	const number = base.kind() === 'ipv4' ? ipv4Number(text) : -1;
	if (number < 0) return [];
	const first = number - (number % size);
	return [{ first, last: first + size - 1 }];
}

/**
 * An IPv4 address in its usual form as a number, or -1 for every other text. This fast path is enough for most requests
 * behind a proxy.
 */
function ipv4Number(text: string): number {
	let number = 0;
	let part = 0;
	let digits = 0;
	let dots = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === 46) {
			if (digits === 0 || ++dots > 3) return -1;
			number = number * 256 + part;
			part = 0;
			digits = 0;
			continue;
		}
		// Some parsers read a leading zero as octal.
		if (code < 48 || code > 57 || (digits > 0 && part === 0)) return -1;
		part = part * 10 + code - 48;
		if (part > 255) return -1;
		digits++;
	}
	return dots === 3 && digits > 0 ? number * 256 + part : -1;
}

/** Parses an entry of X-Forwarded-For: an address, to which some proxies add a port. Null for `unknown` and other names. */
function parseForwardedEntry(entry: string): string | null {
	let text = entry.trim();
	if (ipv4Number(text) >= 0) return text;
	const bracketed = /^\[(.+)\](?::\d+)?$/.exec(text);
	if (bracketed !== null) text = bracketed[1] as string;
	else if (/^[\d.]+:\d+$/.test(text)) text = text.slice(0, text.indexOf(':'));
	return ipaddr.isValid(text) ? ipaddr.process(text).toString() : null;
}

/** A cache of one entry: behind a proxy, most requests come from the same IPv4 address. */
let lastNumber = -1;
let lastText = '';

/** The text of a socket's binary address of 4 or 16 bytes. An IPv4-mapped address is shown as IPv4. */
export function formatAddress(bytes: ArrayBuffer): string {
	if (bytes.byteLength === 4) {
		const number = new Uint32Array(bytes)[0] as number;
		if (number !== lastNumber) {
			lastNumber = number;
			lastText = new Uint8Array(bytes).join('.');
		}
		return lastText;
	}
	if (bytes.byteLength !== 16) return '';
	const address = ipaddr.fromByteArray([...new Uint8Array(bytes)]) as ipaddr.IPv6;
	return (address.isIPv4MappedAddress() ? address.toIPv4Address() : address).toString();
}
