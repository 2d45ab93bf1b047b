import { parseUrl } from '../base/index.ts';
import type { HttpRequest } from '../http/index.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether a visitor's request comes from the server's own demo page, which may show every deployment, whatever its
 * allowlist. Browsers send the origin, and no page can change it, so another website gains nothing.
 *
 * The page's origin is the server's public address, where it has one, or a loopback address. A comparison with `Host` alone would not
 * be safe: a website whose name resolves to this server (DNS rebinding) would pass it.
 */
export class DemoOrigin {
	readonly #publicUrl: string | undefined;

	/** @param publicUrl this server's origin as browsers see it */
	constructor(publicUrl: string | undefined) {
		this.#publicUrl = publicUrl;
	}

	/** @param origin of the page that sends the request; null where the request names none */
	allows(origin: string | null, request: HttpRequest): boolean {
		if (origin === null) return false;
		if (origin === this.#publicUrl) return true;
		const host = request.header('host');
		const url = parseUrl(origin);
		if (host === undefined || url === null) return false;
		const { protocol, hostname } = url;
		return LOOPBACK.includes(hostname) && origin === `${protocol}//${host.toLowerCase()}`;
	}
}
