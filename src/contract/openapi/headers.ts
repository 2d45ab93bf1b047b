import type { Operation } from '../operation.ts';
import { takesIdempotencyKey } from '../operation.ts';
import type { Components } from './components.ts';

const text = (description: string, example: string) => ({
	description,
	schema: { type: 'string', examples: [example] },
});
const count = (description: string, example: number) => ({
	description,
	schema: { type: 'integer', minimum: 0, examples: [example] },
});

const HEADERS = {
	'X-Request-Id': {
		...text('Identifies this request in the log.', 'req_06gzhmza00001mjww6bbdevcx5ss2c8f'),
		required: true,
	},
	ETag: { ...text('The version of the resource, for `If-None-Match` and `If-Match`.', '"3"'), required: true },
	'ETag-unless-repeated': text(
		'The version of the resource, for `If-None-Match` and `If-Match`. Absent from a replayed response: the resource may have changed since.',
		'"1"',
	),
	'Idempotent-Replayed': {
		description: '`true` if this is the stored response of an earlier request with the same `Idempotency-Key`.',
		schema: { type: 'string', enum: ['true'] },
	},
	'Set-Cookie': text(
		'Sets or removes the session’s cookie, and sets the device’s cookie, which only sign-in reads.',
		'parley_session=…; HttpOnly; SameSite=Lax; Path=/',
	),
	'x-ratelimit-limit': count(
		'Requests per minute for this credential. Without a credential, or on a 401: for the client’s address.',
		6000,
	),
	'x-ratelimit-remaining': count('Requests that are allowed at once.', 999),
	'x-ratelimit-reset': count('Seconds until the whole limit is available again.', 1),
	'Retry-After': { ...count('Seconds after which to retry.', 5) },
	'WWW-Authenticate': text('The scheme of the missing credential.', 'Bearer'),
	'Access-Control-Allow-Origin': text(
		'The origin of the requesting page, if the request has one.',
		'https://shop.example',
	),
} as const;

export type HeaderName = keyof typeof HEADERS;

/** References to the headers of a response, by name. */
export function headersOf(names: readonly HeaderName[], components: Components): Record<string, object> {
	return Object.fromEntries(
		names.map((name) => [
			name.replace('-unless-repeated', ''),
			components.shared('headers', name, () => HEADERS[name]),
		]),
	);
}

/** The headers that every response of an operation can have, errors included. */
export function commonHeaders({ access, path }: Operation): HeaderName[] {
	if (access.kind === 'widget') return ['X-Request-Id', 'Access-Control-Allow-Origin'];
	if (!path.startsWith('/api/')) return ['X-Request-Id'];
	return ['X-Request-Id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
}

/** The headers of an operation's success. */
export function successHeaders(operation: Operation): HeaderName[] {
	const repeatable = takesIdempotencyKey(operation);
	return [
		...commonHeaders(operation),
		...(operation.versioned ? ([repeatable ? 'ETag-unless-repeated' : 'ETag'] as const) : []),
		...(repeatable ? (['Idempotent-Replayed'] as const) : []),
		...(operation.setsCookie ? (['Set-Cookie'] as const) : []),
	];
}
