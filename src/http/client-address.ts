import ipaddr from 'ipaddr.js';

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Tells the client's address from the socket's and, behind trusted proxies, the X-Forwarded-For header. */
export type ClientAddress = (peer: string, forwardedFor: string | undefined) => string;

/**
 * @param trustedProxies addresses and CIDR ranges whose word on X-Forwarded-For is taken
 * @throws Error that names an entry which is neither
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
	const networks = trustedProxies.map((entry) => parseNetwork(entry.trim()));
	if (networks.length === 0) return (peer) => peer;
	const isTrusted = (address: string): boolean => {
		if (!ipaddr.isValid(address)) return false;
		const parsed = ipaddr.process(address);
		return networks.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match([base, bits] as never));
	};
	return (peer, forwardedFor) => {
		if (forwardedFor === undefined || !isTrusted(peer)) return peer;
		// Each proxy appends whom it heard from: only the entries from the right, as far as trusted proxies wrote them, are
		// known to be true. What stands further left was sent by the client and may be made up.
		const hops = forwardedFor.split(',');
		let client = peer;
		for (let at = hops.length - 1; at >= 0; at--) {
			const hop = readHop(hops[at] as string);
			if (hop === null) return client;
			client = hop;
			if (!isTrusted(hop)) return hop;
		}
		return client;
	};
}

function parseNetwork(entry: string): Network {
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

/** An entry of X-Forwarded-For: an address, some proxies add a port. Null for `unknown` and other names. */
function readHop(entry: string): string | null {
	let text = entry.trim();
	const bracketed = /^\[(.+)\](?::\d+)?$/.exec(text);
	if (bracketed !== null) text = bracketed[1] as string;
	else if (/^[\d.]+:\d+$/.test(text)) text = text.slice(0, text.indexOf(':'));
	return ipaddr.isValid(text) ? ipaddr.process(text).toString() : null;
}

/** The text of a socket's binary address: 4 bytes, or 16 of which an IPv4-mapped one is shown as IPv4. */
export function formatAddress(bytes: ArrayBuffer): string {
	const view = new Uint8Array(bytes);
	if (view.length === 4) return `${view[0]}.${view[1]}.${view[2]}.${view[3]}`;
	if (view.length !== 16) return '';
	const address = ipaddr.fromByteArray([...view]) as ipaddr.IPv6;
	return (address.isIPv4MappedAddress() ? address.toIPv4Address() : address).toString();
}
