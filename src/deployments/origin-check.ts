import { parseUrl } from '../base/index.ts';
import type { OriginCheck } from '../contract/index.ts';
import { createAllowlist, type HostSource, parseEntry } from './allowlist.ts';

type NearMiss = OriginCheck['near_misses'][number];

/**
 * Whether an allowlist lets a page in, and why. The decision is that of `createAllowlist`, as for visitors.
 * @param address of a page
 * @throws AppError `invalid_request` for a malformed entry
 */
export function checkOrigin(entries: readonly string[], address: string): OriginCheck {
	const sources = entries.map(parseEntry);
	const url = parseUrl(address);
	if (url === null) return refusal(null, 'invalid_url');
	const { protocol, hostname, origin } = url;
	if (protocol !== 'http:' && protocol !== 'https:') return refusal(null, 'not_a_website');
	if (hostname.endsWith('.')) return refusal(origin, 'trailing_dot');
	if (entries.length === 0) return refusal(origin, 'empty_list');
	const entry = entries.find((one) => createAllowlist([one]).allows(origin));
	if (entry !== undefined) return { allowed: true, origin, entry, reason: null, near_misses: [] };
	const near_misses = sources.flatMap((source, at): NearMiss[] => {
		const reason = source === '*' ? null : nearMissReason(source, url);
		return reason === null ? [] : [{ entry: entries[at] as string, reason }];
	});
	return { ...refusal(origin, 'no_entry_matches'), near_misses };
}

function refusal(origin: string | null, reason: NonNullable<OriginCheck['reason']>): OriginCheck {
	return { allowed: false, origin, entry: null, reason, near_misses: [] };
}

/** Why an entry that does not let a page in is close to doing so; null where it names another website. */
function nearMissReason(
	{ scheme, host, wildcard }: HostSource,
	{ protocol, hostname }: URL,
): NearMiss['reason'] | null {
	const isSubdomain = hostname.endsWith(`.${host}`);
	if (wildcard ? hostname === host : isSubdomain) return wildcard ? 'apex' : 'subdomain';
	if (wildcard ? !isSubdomain : hostname !== host) return null;
	return scheme !== null && scheme !== protocol.slice(0, -1) ? 'scheme' : 'port';
}
