import { parseUrl } from '../../base/index.ts';

/** An address of a page. */
export interface PageAddress {
	/** In canonical form: two forms of one address are equal. */
	url: string;
	/** As it was linked, without fragment and tracking parameters. It is requested, because a site may know only this form. */
	fetchUrl: string;
}

/** Documents store no longer ones. */
const MAX_URL_LENGTH = 2_000;

/** Parameters that campaigns, advertisements and sessions add. They do not change the page. */
const TRACKING_PARAMETER =
	/^(utm_.+|mtm_.+|pk_.+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_[ce]id|_hsenc|_hsmi|mkt_tok|_ga|_gl|phpsessid|jsessionid|sessionid)$/i;

/** The path parameter with which Java servers pass a session. */
const SESSION_PATH_PARAMETER = /;jsessionid=[^/;?#]*/gi;

/** A page that servers send for its folder. */
const INDEX_PAGE = /\/(?:index\.(?:html?|php|aspx?|jsp|shtml)|default\.(?:html?|aspx?))$/i;

/**
 * The canonical form of a link: http or https, host in lower case, no default port, no fragment, no tracking parameters, no
 * index page, no needless escapes (RFC 3986, 6.2.2). Null for what is no address of a page.
 * @param base the address of the page with the link
 */
export function canonicalUrl(link: string, base?: string): PageAddress | null {
	const url = base === undefined ? parseUrl(link) : resolve(link, base);
	if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
	if (url.username !== '' || url.password !== '' || url.hostname === '') return null;
	url.hash = '';
	// A name with a dot at its end is the same name.
	if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
	url.pathname = normalEscapes(url.pathname.replace(SESSION_PATH_PARAMETER, ''));
	url.search = withoutTracking(url.search);
	const fetchUrl = url.href;
	if (url.search === '') url.pathname = url.pathname.replace(INDEX_PAGE, '/');
	if (fetchUrl.length > MAX_URL_LENGTH) return null;
	return { url: url.href, fetchUrl };
}

function resolve(link: string, base: string): URL | null {
	try {
		return new URL(link, base);
	} catch {
		return null;
	}
}

/** Keeps the order and the form of the other parameters, because some sites depend on both. */
function withoutTracking(search: string): string {
	const kept = search
		.slice(1)
		.split('&')
		.filter((part) => part !== '' && !TRACKING_PARAMETER.test(part.split('=', 1)[0] as string));
	return kept.length === 0 ? '' : `?${normalEscapes(kept.join('&'))}`;
}

/** Decodes the escapes of characters that need none, and writes the others in upper case. */
function normalEscapes(text: string): string {
	return text.replace(/%([0-9a-f]{2})/gi, (encoded, hex: string) => {
		const character = String.fromCharCode(Number.parseInt(hex, 16));
		return /[A-Za-z0-9._~-]/.test(character) ? character : encoded.toUpperCase();
	});
}
