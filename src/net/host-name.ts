/**
 * Suffixes that no public server has: those reserved for the local machine or network (RFC 6761, RFC 6762, RFC 8375, ICANN's
 * `.internal`, and `.localdomain` by custom), for names outside the DNS (RFC 7686, RFC 9476), for invalid names
 * (`.invalid`), and for the infrastructure of the DNS (`.arpa`, RFC 3172).
 */
const RESERVED_SUFFIX = /(^|\.)(localhost|localdomain|local|internal|onion|alt|invalid|arpa)$/;

/** Names of cloud metadata services. Most resolve to private addresses, which are refused anyway; some do not. */
const METADATA_HOSTS = new Set([
	'metadata.azure.com',
	'metadata.goog',
	'metadata.packet.net',
	'metadata.platformequinix.com',
	'metadata.tencentyun.com',
]);

/** A label of a host name. Underscores are not standard, but some names have them. */
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MAX_NAME_LENGTH = 253;

/**
 * Whether a name can belong to the public internet. A name without a dot cannot: the resolver would look in the local
 * network first.
 * @param hostname of a parsed URL, so in lower case and punycode; one dot at its end is ignored
 */
export function isPublicHostName(hostname: string): boolean {
	const name = hostname.replace(/\.$/, '');
	const labels = name.split('.');
	if (labels.length < 2 || name.length > MAX_NAME_LENGTH || !labels.every((label) => LABEL.test(label))) return false;
	return !RESERVED_SUFFIX.test(name) && !METADATA_HOSTS.has(name);
}
