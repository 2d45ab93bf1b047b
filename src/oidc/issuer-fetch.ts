import type { CustomFetch } from 'openid-client';
import { type Network, ServiceError } from '../net/index.ts';

/** Bytes of a response of the issuer. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/**
 * The fetch of requests to an issuer. The operator has configured the issuer, so its origin may have a private address. Endpoints
 * elsewhere are what the issuer's document names: for them the rules for addresses hold, and they must use https.
 * @param timeoutMs of each request, with its response
 */
export function createIssuerFetch(network: Network, issuer: string, timeoutMs: number): CustomFetch {
	const { origin } = new URL(issuer);
	const client = network.serviceClient(issuer, { timeoutMs, maxBodyBytes: MAX_RESPONSE_BYTES });
	return async (url, { method, headers, body }) => {
		const request = { method, headers, body: body instanceof URLSearchParams ? body.toString() : (body as string) };
		if (new URL(url).origin === origin) return client.fetch(url, request);
		const signal = AbortSignal.timeout(timeoutMs);
		return withinLimit(await network.fetch(url, { ...request, signal }, { httpsOnly: true }));
	};
}

/** The response, read whole. @throws ServiceError if it is too large */
async function withinLimit(response: Response): Promise<Response> {
	if (response.body === null) return response;
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
		bytes += chunk.length;
		if (bytes > MAX_RESPONSE_BYTES) throw new ServiceError('too_large', 'The response of the issuer is too large.');
		chunks.push(chunk);
	}
	return new Response(Buffer.concat(chunks), { status: response.status, headers: response.headers });
}
