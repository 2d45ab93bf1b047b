/** The names that services give their errors, with the HTTP status of each. */
const STATUSES: Readonly<Record<number, readonly string[]>> = {
	400: [
		'invalid_request_error',
		'invalid_request',
		'invalid_argument',
		'invalid_prompt',
		'bad_request',
		'bad_request_error',
		'validation_error',
		'context_length_exceeded',
		'exceed_context_size_error',
		'string_above_max_length',
		'content_filter',
		'content_policy_violation',
		'tool_use_failed',
	],
	401: ['authentication_error', 'invalid_api_key', 'unauthorized', 'unauthenticated'],
	402: ['billing_error', 'payment_required'],
	403: ['permission_error', 'permission_denied', 'permission_denied_error', 'forbidden'],
	404: ['not_found', 'not_found_error', 'model_not_found'],
	413: ['request_too_large'],
	429: ['rate_limit_error', 'rate_limit_exceeded', 'insufficient_quota', 'resource_exhausted', 'too_many_requests'],
	500: ['api_error', 'server_error', 'internal_error', 'internal_server_error'],
	503: ['unavailable', 'unavailable_error', 'service_unavailable', 'service_unavailable_error'],
	504: ['timeout_error'],
	529: ['overloaded_error'],
};
const STATUS_OF = new Map(
	Object.entries(STATUSES).flatMap(([status, words]) => words.map((word) => [word, Number(status)] as const)),
);

interface Reported {
	statusCode?: unknown;
	code?: unknown;
	type?: unknown;
}

/**
 * The HTTP status of an error; null if it has none. Some services respond with 200 and report the error in the stream, with
 * a status as its code, or with the name of an error as its code or type. The code is more specific than the type:
 * `invalid_api_key` is an `invalid_request_error` too.
 */
export function reportedStatus(thrown: unknown): number | null {
	const { statusCode, code, type } = (thrown ?? {}) as Reported;
	return asStatus(statusCode) ?? asStatus(code) ?? statusOfWord(code) ?? statusOfWord(type);
}

function asStatus(value: unknown): number | null {
	const status = Number(value);
	return Number.isInteger(status) && status >= 400 && status <= 599 ? status : null;
}

/** One spelling of a name for all of `BadRequestError`, `bad_request_error`, `BAD_REQUEST`. */
function statusOfWord(word: unknown): number | null {
	if (typeof word !== 'string') return null;
	const snake = word.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
	return STATUS_OF.get(snake) ?? null;
}
