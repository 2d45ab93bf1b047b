/**
 * Every failure a caller may see: its code, its HTTP status, and the sentence used when nothing more precise is known.
 * The list is the API's published list of error codes; a code is never reused with another status.
 */
export const ERROR_CODES = {
	invalid_request: [400, 'The request is not valid.'],
	invalid_json: [400, 'The request body is not valid JSON.'],
	invalid_cursor: [400, 'The cursor does not belong to this list.'],
	unsupported_file_type: [
		400,
		'This file type is not supported. Send a PDF, DOCX, XLSX, PPTX, ODT, ODS, ODP, RTF, EPUB, EML, HTML, CSV, MD or TXT file.',
	],
	unreadable_file: [400, 'The file cannot be read.'],
	resource_limit: [400, 'Reading the file takes more memory or time than one document may take.'],
	no_text: [400, 'The document has no text that can be searched.'],
	idempotency_key_reused: [400, 'This Idempotency-Key was used with another request body. Use a new key.'],
	assistant_archived: [
		400,
		'The assistant is archived. To start conversations, reactivate it: PATCH {"status":"active"}.',
	],
	conversation_archived: [400, 'The conversation is archived. To send messages, reopen it: PATCH {"status":"active"}.'],
	conversation_not_taken_over: [400, 'The model handles this conversation. Take it over first.'],
	handoff_disabled: [400, 'Visitors of this deployment cannot ask for a person: features.handoff is off.'],
	webhook_disabled: [400, 'The webhook endpoint is disabled. Enable it first: PATCH {"status":"active"}.'],
	unknown_model: [400, 'The model is not configured on this server.'],
	unsupported_content_type: [400, 'The Content-Type of the request is not supported here.'],
	url_not_allowed: [400, 'The URL points to an address that this server does not connect to.'],
	unauthorized: [401, 'Missing or invalid credentials.'],
	invalid_jwt: [401, 'The JWT is missing or not valid.'],
	second_factor_required: [
		401,
		'Send the code of your authenticator app, or a recovery code, to POST /api/v1/session/second-factor.',
	],
	forbidden: [403, 'This is not permitted.'],
	insufficient_scope: [403, 'The API key lacks the scope for this operation.'],
	domain_not_allowed: [403, 'This domain is not on the allowlist of the deployment.'],
	plan_limit_exceeded: [403, 'The plan of this workspace does not allow more.'],
	usage_limit_reached: [403, 'The assistant cannot answer at present. Try again later.'],
	csrf_failed: [403, 'The Origin of the request is not this server.'],
	second_factor_setup_required: [
		403,
		'This workspace requires a second factor. Set one up: POST /api/v1/session/totp.',
	],
	password_sign_in_disabled: [403, 'Passwords are switched off on this server. Sign in with the identity provider.'],
	sign_in_refused: [403, 'The identity provider has refused the sign-in.'],
	account_deactivated: [403, 'This account is deactivated. An owner or admin of the workspace can activate it again.'],
	address_not_allowed: [403, 'The dashboard and its sessions cannot be used from this address.'],
	not_found: [404, 'The resource does not exist.'],
	method_not_allowed: [405, 'This path does not accept this method.'],
	precondition_failed: [
		412,
		'The resource has changed since the version in If-Match. Get it again and repeat the change.',
	],
	payload_too_large: [413, 'The request body is too large.'],
	rate_limit_exceeded: [429, 'Too many requests.'],
	conversation_busy: [429, 'Too many messages are waiting in this conversation. Try again later.'],
	internal_error: [500, 'An internal error occurred on the server.'],
	model_error: [500, 'The model failed to answer.'],
	identity_provider_failed: [503, 'The identity provider cannot be used at present. Try again later.'],
	unavailable: [503, 'The server cannot accept this request at present. Try again later.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>;

/** A code of the published list. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** One error at one place in a request; `path` is a JSON Pointer (RFC 6901). */
export interface ErrorDetail {
	path: string;
	message: string;
}

/** What an error may have besides its code and sentence. */
export interface ErrorExtras {
	/** Seconds after which a repeat may succeed. */
	retry_after?: number;
	details?: ErrorDetail[];
	cause?: unknown;
}

/**
 * The error class of the domain. An AppError is a response for the caller; any other exception is a defect, which is logged and
 * becomes `internal_error` without its message.
 */
export class AppError extends Error {
	readonly code: ErrorCode;
	readonly retry_after: number | undefined;
	readonly details: ErrorDetail[] | undefined;

	constructor(code: ErrorCode, message?: string, extras: ErrorExtras = {}) {
		super(message ?? ERROR_CODES[code][1], { cause: extras.cause });
		this.name = 'AppError';
		this.code = code;
		this.retry_after = extras.retry_after;
		this.details = extras.details;
	}

	/** The HTTP status of the code. */
	get status(): number {
		return ERROR_CODES[this.code][0];
	}
}

/** The message of anything that was thrown, for logs. */
export function messageOf(thrown: unknown): string {
	return thrown instanceof Error ? thrown.message : String(thrown);
}
