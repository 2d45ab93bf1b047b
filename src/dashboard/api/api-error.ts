import { fieldErrorText } from '../languages/error-text.ts';
import { strings } from '../languages/index.ts';

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
	/** For example `not_found`; empty where the response has none. */
	readonly code: string;
	/** Seconds after which the request may succeed; null where the server does not say. */
	readonly retryAfter: number | null;
	readonly details: readonly FieldError[];

	constructor(status: number, envelope: ErrorEnvelope) {
		super(envelope.message ?? `The server answered with status ${status}.`);
		this.status = status;
		this.code = envelope.code ?? '';
		this.retryAfter = envelope.retry_after ?? null;
		this.details = envelope.details ?? [];
	}

	/** Why one field or a member of it, which it then names, is rejected; null if it is not. */
	messageFor(path: string): string | null {
		const found = this.details.find((detail) => detail.path === path || detail.path.startsWith(`${path}/`));
		if (found === undefined) return null;
		const reason = fieldErrorText(strings().errors, this.code, found.message);
		return found.path === path ? reason : `${found.path.slice(path.length + 1)} ${reason}`;
	}
}

interface ErrorEnvelope {
	code?: string;
	message?: string;
	retry_after?: number;
	details?: FieldError[];
}

/** The error of a response, whatever its body is. */
export async function errorOfResponse(response: Response): Promise<ApiError> {
	return errorOfBody(response.status, await response.text().catch(() => ''));
}

/** @param body the text of the response */
export function errorOfBody(status: number, body: string): ApiError {
	let parsed: unknown;
	try {
		parsed = JSON.parse(body);
	} catch {
		parsed = null;
	}
	const envelope = (parsed as { error?: ErrorEnvelope } | null)?.error;
	return new ApiError(status, envelope ?? {});
}
