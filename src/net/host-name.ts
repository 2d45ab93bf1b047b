/**
 * Endings of names that no public server has: those set aside for the own machine or the own network (RFC 6761, RFC 6762,
 * RFC 8375, ICANN's `.internal`, and `.localdomain` by custom), for what is not DNS (RFC 7686, RFC 9476), for nothing at all
 * (`.invalid`), and for the DNS's own affairs (`.arpa`, RFC 3172).
 */
const RESERVED_SUFFIX = /(^|\.)(localhost|localdomain|local|internal|onion|alt|invalid|arpa)$/;

/** Names of the metadata services of clouds. Most lead to private addresses, which are refused anyway; some do not. */
const METADATA_HOSTS = new Set([
	'metadata.azure.com',
	'metadata.goog',
	'metadata.packet.net',
	'metadata.platformequinix.com',
	'metadata.tencentyun.com',
]);

/** A label as host names have it, underscores included, which some have in practice. */
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MAX_NAME_LENGTH = 253;

/**
 * Whether a name may be one of the public internet. A name without a dot is not: the resolver would look for it in its own
 * network first.
 * @param hostname as a parsed URL has it, so in lower case and punycode; one dot at its end changes nothing
 */
export function isPublicHostName(hostname: string): boolean {
	const name = hostname.replace(/\.$/, '');
	const labels = name.split('.');
	if (labels.length < 2 || name.length > MAX_NAME_LENGTH || !labels.every((label) => LABEL.test(label))) return false;
	return !RESERVED_SUFFIX.test(name) && !METADATA_HOSTS.has(name);
}
