import type { HttpRequest } from '../http/index.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether a visitor's request comes from the server's own demo page, which may show every deployment, whatever its
 * allowlist. Browsers tell the origin, and no page can change it: another website gains nothing.
 *
 * That is its public address, where it has one, and what runs on the reader's own machine. `Host` alone would not do: a
 * website whose name leads here (DNS rebinding) would be at home under any name.
 */
export class DemoOrigin {
	readonly #publicUrl: string | undefined;

	/** @param publicUrl this server's origin as browsers see it */
	constructor(publicUrl: string | undefined) {
		this.#publicUrl = publicUrl;
	}

	/** @param origin of the page that asks; null where the request names none */
	allows(origin: string | null, request: HttpRequest): boolean {
		if (origin === null) return false;
		if (origin === this.#publicUrl) return true;
		const host = request.header('host');
		if (host === undefined || !URL.canParse(origin)) return false;
		const { protocol, hostname } = new URL(origin);
		return LOOPBACK.includes(hostname) && origin === `${protocol}//${host.toLowerCase()}`;
	}
}
