import { AppError, parseUrl } from '../base/index.ts';
import type { HttpRequest } from '../http/index.ts';

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Prevents cross-site request forgery. Browsers name in `Origin` the page that sends a request (WHATWG Fetch, section 3.1), and no page
 * can change that.
 */
export class SameOriginCheck {
	readonly #publicUrl: string | undefined;

	/** @param publicUrl this server's origin as browsers see it; undefined: the origin that `Host` names */
	constructor(publicUrl: string | undefined) {
		this.#publicUrl = publicUrl;
	}

	/**
	 * A change that only a cookie authenticates must come from a page of this server, and must have an Origin header.
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
	 * A request that needs no cookie may have no Origin header, but must not come from another website's page.
	 * @throws AppError `csrf_failed`
	 */
	rejectCrossOrigin(request: HttpRequest): void {
		const origin = request.header('origin');
		if (origin === undefined || this.#isSameOrigin(origin, request.header('host'))) return;
		// A proxy may have replaced the Host that the browser sent.
		const hint = this.#publicUrl === undefined ? ' Behind a proxy, set PARLEY_PUBLIC_URL.' : '';
		throw new AppError('csrf_failed', `The Origin of the request is not this server.${hint}`);
	}

	#isSameOrigin(origin: string, host: string | undefined): boolean {
		if (this.#publicUrl !== undefined) return origin === this.#publicUrl;
		const url = parseUrl(origin);
		if (host === undefined || url === null) return false;
		// With the origin's scheme: behind a proxy that terminates TLS the server sees http where the browser sees https, without a port.
		const ownOrigin = `${url.protocol}//${host}`;
		return origin !== 'null' && parseUrl(ownOrigin)?.origin === origin;
	}
}
