/** One field of a request that the server rejected. */
export interface FieldError {
	/** JSON Pointer into the body, for example `/name`. */
	path: string;
	message: string;
}

/** A response with an error status. */
export class ApiError extends Error {
	override name = 'ApiError';
	readonly status: number;
	/** The code of the error envelope; `unknown` where the response has none. */
	readonly code: string;
	readonly details: readonly FieldError[];
	/** Seconds to wait before a retry; null where the server names none. */
	readonly retryAfter: number | null;

	constructor(status: number, envelope: ErrorEnvelope) {
		super(envelope.message ?? `The server answered with status ${status}.`);
		this.status = status;
		this.code = envelope.code ?? 'unknown';
		this.details = envelope.details ?? [];
		this.retryAfter = envelope.retry_after ?? null;
	}

	/** The server's sentence about one field; null if it has none. */
	messageFor(path: string): string | null {
		return this.details.find((detail) => detail.path === path)?.message ?? null;
	}
}

interface ErrorEnvelope {
	code?: string;
	message?: string;
	details?: FieldError[];
	retry_after?: number;
}

/** The error of a response, whatever its body is. */
export async function errorOfResponse(response: Response): Promise<ApiError> {
	let body: unknown;
	try {
		body = await response.json();
	} catch {
		body = null;
	}
	const envelope = (body as { error?: ErrorEnvelope } | null)?.error;
	return new ApiError(response.status, envelope ?? {});
}
