import type { SourceRecord } from '../../store/index.ts';

/** Files that are no documents. They are not requested. */
const NO_DOCUMENT =
	/\.(?:7z|apk|avif|avi|bin|bmp|bz2|css|deb|dmg|eot|exe|flac|gif|gz|ico|ics|img|iso|jar|jpe?g|js|json|m4[av]|map|mjs|mkv|mov|mp[34]|mpe?g|msi|ogg|ogv|otf|pkg|png|rar|rpm|rss|svgz?|tar|tgz|tiff?|ttf|vcf|wasm|wav|webm|webp|wmv|woff2?|xml|xz|zip)$/i;

/** Segments of a path. Pages that link to themselves with a relative link have ever more. */
const MAX_SEGMENTS = 25;
/** How often a path may have the same segment. */
const MAX_REPEATED_SEGMENTS = 3;

/** Whether a pattern matches a whole address. `*` stands for any characters. The time is linear for each `*`. */
export function matchesPattern(pattern: string, url: URL): boolean {
	const text = pattern.startsWith('/') ? url.pathname + url.search : url.href;
	const [first = '', ...rest] = pattern.split('*');
	const last = rest.pop();
	if (last === undefined) return text === first;
	if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
	let at = first.length;
	for (const part of rest) {
		const found = text.indexOf(part, at);
		if (found < 0) return false;
		at = found + part.length;
	}
	return at <= text.length - last.length;
}

/** Whether an address belongs to a source by its host and its patterns. */
export function isInScope(source: Pick<SourceRecord, 'hosts' | 'include' | 'exclude'>, address: string): boolean {
	const url = new URL(address);
	return source.hosts.includes(hostKey(url)) && matchesPatterns(source, url);
}

/** Whether the patterns of a source include an address. */
export function matchesPatterns({ include, exclude }: Pick<SourceRecord, 'include' | 'exclude'>, url: URL): boolean {
	if (exclude.some((pattern) => matchesPattern(pattern, url))) return false;
	return include.length === 0 || include.some((pattern) => matchesPattern(pattern, url));
}

/** Whether a link may lead to a document, and not into an endless space of addresses. */
export function isWorthFetching(address: string): boolean {
	const { pathname } = new URL(address);
	if (NO_DOCUMENT.test(pathname)) return false;
	const segments = pathname.split('/').filter((segment) => segment !== '');
	if (segments.length > MAX_SEGMENTS) return false;
	const counts = new Map<string, number>();
	for (const segment of segments) {
		const count = (counts.get(segment) ?? 0) + 1;
		if (count > MAX_REPEATED_SEGMENTS) return false;
		counts.set(segment, count);
	}
	return true;
}

/** The host of an address with its port. `www.` does not count: most sites have both names. */
export function hostKey({ host }: Pick<URL, 'host'>): string {
	return host.replace(/^www\./, '');
}
