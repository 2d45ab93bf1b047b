import { isIP } from 'node:net';
import { isLoopback, parseUrl } from '../base/index.ts';

/** Whether a text is the address of a website without a path: `https://chat.example.com`, with an optional port. */
export function isOrigin(text: string): boolean {
	const url = parseUrl(text);
	if (url === null) return false;
	const { protocol, href, origin } = url;
	return (protocol === 'http:' || protocol === 'https:') && href === `${origin}/` && !/[\s\\?#]/.test(text);
}

/** Whether a text is an IP address or a CIDR range. */
export function isIpOrCidr(text: string): boolean {
	const [, address = '', bits = '0'] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
	return isIP(address) > 0 && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
}

const HEX_KEY = /^[0-9a-fA-F]{64}$/;
/** The last base64 character of 32 bytes has four significant bits, so its lowest two bits are zero. */
const BASE64_KEY = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=?$/;

/** Whether a text is a key of 32 bytes, in base64 or in hexadecimal. */
export function isSecretKey(text: string): boolean {
	return HEX_KEY.test(text) || BASE64_KEY.test(text);
}

/** The bytes of such a key. */
export function secretKeyBytes(secretKey: string): Buffer {
	return Buffer.from(secretKey, HEX_KEY.test(secretKey) ? 'hex' : 'base64');
}

/** Whether a text is the base URL of an API: http or https, without query or fragment. */
export function isBaseUrl(text: string): boolean {
	const url = parseUrl(text);
	if (url === null || /[\s\\?#]/.test(text)) return false;
	const { protocol, username, password } = url;
	return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

const LISTEN_ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/;

/** An address to listen on: `127.0.0.1:9464` or `[::1]:9464`. Null for other texts. */
export function listenAddress(text: string): { host: string; port: number } | null {
	const [, ip6, host = ip6, digits] = LISTEN_ADDRESS.exec(text) ?? [];
	const port = Number(digits);
	return host === undefined || port > 65_535 || (ip6 !== undefined && isIP(ip6) !== 6) ? null : { host, port };
}

/** The host may be missing where the query names the folder of a Unix socket. */
const POSTGRES_URL = /^postgres(?:ql)?:\/\/[^\s/?#]*\/[^\s/?#]+(?:\?[^\s#]*)?$/;

/** Whether a text is the URL of a PostgreSQL database, with its name. Parley sets the `options` of its connections itself. */
export function isPostgresUrl(text: string): boolean {
	return POSTGRES_URL.test(text) && !/[?&]options=/.test(text);
}

/** Whether a text can be one word of a header, as keys are. */
export function isHeaderWord(text: string): boolean {
	return /^[\x21-\x7e]+$/.test(text);
}

/** Whether a text is one visible line without control characters. It is printed in terminals and pages. */
export function isOneLine(text: string): boolean {
	return /\S/u.test(text) && !/[\p{Cc}\u2028\u2029]/u.test(text);
}

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** Whether a text is the code of a currency that is in use (ISO 4217). */
export function isCurrency(text: string): boolean {
	return CURRENCIES.has(text);
}

/** Whether a text is the URL of an OpenID Connect issuer: https, or http on this machine. */
export function isIssuer(text: string): boolean {
	const url = isBaseUrl(text) ? parseUrl(text) : null;
	return url !== null && (url.protocol === 'https:' || isLoopback(url.hostname.replace(/^\[|\]$/g, '')));
}

/** Whether a text is a value of a claim with a role: `parley-admins=admin`. */
export function isRoleMapping(text: string): boolean {
	return /^.+=(owner|admin|member|agent|viewer)$/.test(text);
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as `6h`, which the settings' schema has checked. */
export function durationMs(text: string): number {
	return Number(text.slice(0, -1)) * (UNIT_MS[text.slice(-1)] ?? Number.NaN);
}
