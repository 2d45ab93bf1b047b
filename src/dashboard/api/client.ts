import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from '../../../.build/openapi/client.d.ts';
import { errorOfResponse } from './api-error.ts';

/** A resource of the API by the name of its schema. */
export type Resource<Name extends keyof components['schemas']> = components['schemas'][Name];

/** The folder of this page: a proxy may serve the server below another path. Ends with a slash. */
export const BASE_URL = new URL('.', location.href.split('#')[0]).href;

let onUnauthorized: () => void = () => {};

/** Registers what happens when the session has ended. */
export function whenUnauthorized(listener: () => void): void {
	onUnauthorized = listener;
}

/** Reports that the server has rejected the session. */
export function reportUnauthorized(): void {
	onUnauthorized();
}

/** Throws the error of a response with an error status. */
const errors: Middleware = {
	async onResponse({ response, schemaPath }) {
		if (response.ok) return;
		if (response.status === 401 && schemaPath !== '/api/v1/session') onUnauthorized();
		throw await errorOfResponse(response);
	},
};

/** The API, with the session's cookie. Each call throws `ApiError`, or `TypeError` where the server cannot be reached. */
export const api = createClient<paths>({ baseUrl: BASE_URL.replace(/\/$/, ''), credentials: 'same-origin' });
api.use(errors);

/** The body of a successful response. */
export async function resultOf<T>(call: Promise<{ data?: T }>): Promise<T> {
	return (await call).data as T;
}

/** A resource with its version. */
export interface Versioned<T> {
	value: T;
	/** For the header `If-Match`. */
	etag: string;
}

/** The body of a successful response with its version. */
export async function versionedResultOf<T>(call: Promise<{ data?: T; response: Response }>): Promise<Versioned<T>> {
	const { data, response } = await call;
	return { value: data as T, etag: response.headers.get('etag') ?? '' };
}
