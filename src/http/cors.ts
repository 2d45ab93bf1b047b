import type { BytesResponse, Headers, HttpRequest } from './types.ts';

/** What scripts of other origins may do. Credentials (cookies) are never allowed. */
export interface CorsRules {
	methods: readonly string[];
	requestHeaders: readonly string[];
	/** Response headers that scripts may read besides the CORS-safelisted ones. */
	exposedHeaders: readonly string[];
	/** Seconds for which a browser may cache a preflight's response. */
	maxAgeSeconds: number;
}

/** Responses by one set of CORS rules. */
export interface Cors {
	/**
	 * The headers of a response, errors included. Without an origin only `Vary` is set: a response that is cached for the
	 * same URL must not reach another origin.
	 */
	headers(origin: string | undefined): Headers;
	/** The headers that are the same for every origin: all but `Access-Control-Allow-Origin`. */
	readonly common: Headers;
	/** The 204 to a preflight, for any origin: a preflight cannot name a deployment. */
	preflight(request: HttpRequest): BytesResponse;
}

/** Makes the headers of a set of CORS rules (WHATWG Fetch, section 3.3). The origin is echoed; it is never `*`. */
export function createCors(rules: CorsRules): Cors {
	const exposed = ['access-control-expose-headers', rules.exposedHeaders.join(', ')] as const;
	const vary = ['vary', 'Origin'] as const;
	const noOrigin: Headers = [vary];
	const allowed: Headers = [
		['access-control-allow-methods', rules.methods.join(', ')],
		['access-control-allow-headers', rules.requestHeaders.join(', ')],
		['access-control-max-age', String(rules.maxAgeSeconds)],
	];
	return {
		common: [vary, exposed],
		headers: (origin) => (origin === undefined ? noOrigin : [['access-control-allow-origin', origin], vary, exposed]),
		preflight(request) {
			const origin = request.header('origin');
			if (origin === undefined) return { status: 204, headers: [vary, ...allowed] };
			return { status: 204, headers: [['access-control-allow-origin', origin], vary, ...allowed] };
		},
	};
}
