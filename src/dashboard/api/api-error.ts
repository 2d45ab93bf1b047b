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
	readonly details: readonly FieldError[];

	constructor(status: number, envelope: ErrorEnvelope) {
		super(envelope.message ?? `The server answered with status ${status}.`);
		this.status = status;
		this.details = envelope.details ?? [];
	}

	/** The server's sentence about one field; null if it has none. */
	messageFor(path: string): string | null {
		return this.details.find((detail) => detail.path === path)?.message ?? null;
	}
}

interface ErrorEnvelope {
	message?: string;
	details?: FieldError[];
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
