import { AppError } from '../base/index.ts';
import type { HttpRequest } from '../http/index.ts';

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Keeps other websites from acting with the cookies of those who visit them. Browsers tell in `Origin` which page a request
 * comes from (WHATWG Fetch, section 3.1), and no page can change that.
 */
export class SameOriginCheck {
	readonly #publicUrl: string | undefined;

	/** @param publicUrl this server's origin as browsers see it; undefined: whatever they call it in `Host` */
	constructor(publicUrl: string | undefined) {
		this.#publicUrl = publicUrl;
	}

	/**
	 * A request that changes something with nothing but a cookie must come from a page of this server, and say so.
	 * @throws AppError `csrf_failed`
	 */
	requireSameOrigin(request: HttpRequest): void {
		if (SAFE_METHODS.includes(request.method)) return;
		if (request.header('origin') === undefined) {
			throw new AppError('csrf_failed', 'A request with a session needs the header Origin.');
		}
		this.rejectCrossOrigin(request);
	}

	/**
	 * What needs no cookie may come from anywhere but another website's page.
	 * @throws AppError `csrf_failed`
	 */
	rejectCrossOrigin(request: HttpRequest): void {
		const origin = request.header('origin');
		if (origin === undefined || this.#isSameOrigin(origin, request.header('host'))) return;
		// A proxy may have put another Host in the place of the one that the browser knows.
		const hint = this.#publicUrl === undefined ? ' Behind a proxy, set PARLEY_PUBLIC_URL.' : '';
		throw new AppError('csrf_failed', `The Origin of the request is not this server.${hint}`);
	}

	#isSameOrigin(origin: string, host: string | undefined): boolean {
		if (this.#publicUrl !== undefined) return origin === this.#publicUrl;
		if (host === undefined || !URL.canParse(origin)) return false;
		// In the origin's scheme: behind a proxy that ends TLS we see http where the browser sees https, without a port.
		const ownOrigin = `${new URL(origin).protocol}//${host}`;
		return URL.canParse(ownOrigin) && origin !== 'null' && new URL(ownOrigin).origin === origin;
	}
}
