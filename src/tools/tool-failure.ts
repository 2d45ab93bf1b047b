import { AppError, type Log, messageOf } from '../base/index.ts';
import { truncateResult } from './result-text.ts';
import type { ToolErrorCode, ToolOutcome } from './tool-function.ts';

/** Characters of a failure's sentence, and of the response, in its result. */
const MAX_MESSAGE = 500;
const MAX_DETAIL = 4_096;

/** Details of a failure beside its sentence. */
interface FailureExtras {
	/** The response, for the model: the beginning of its body, say. */
	detail?: string;
	/** Of the response. */
	status?: number;
	cause?: unknown;
}

/** A call that failed, with the reason as a sentence. */
export class ToolFailure extends Error {
	readonly code: ToolErrorCode;
	readonly detail: string | undefined;
	readonly status: number | null;

	constructor(code: ToolErrorCode, message: string, { detail, status, cause }: FailureExtras = {}) {
		super(message, { cause });
		this.name = 'ToolFailure';
		this.code = code;
		this.detail = detail;
		this.status = status ?? null;
	}
}

/** Any error of a call, as a ToolFailure. */
export function toToolFailure(thrown: unknown): ToolFailure {
	if (thrown instanceof ToolFailure) return thrown;
	// Of the network.
	if (thrown instanceof AppError && thrown.code === 'url_not_allowed') {
		return new ToolFailure(thrown.code, thrown.message, { cause: thrown.cause });
	}
	if (thrown instanceof AppError && thrown.code === 'unavailable') {
		return new ToolFailure('unreachable', thrown.message, { cause: thrown.cause });
	}
	return new ToolFailure('internal_error', 'The call failed on this server.', { cause: thrown });
}

/**
 * A failure as an outcome.
 * @param redact takes secrets out of a text
 */
export function failedOutcome(failure: ToolFailure, redact: (text: string) => string): ToolOutcome {
	// Redacted before it is cut: half of a secret would not be found.
	const message = redact(failure.message).slice(0, MAX_MESSAGE);
	const detail = redact(failure.detail ?? '').slice(0, MAX_DETAIL);
	return {
		result: truncateResult(detail === '' ? message : `${message}\n${detail}`),
		is_error: true,
		error: { code: failure.code, message },
	};
}

/** Logs a failure without secrets. */
export function logFailure(
	log: Log,
	{ id }: { id: string },
	failure: ToolFailure,
	redact: (text: string) => string,
): void {
	const { code, message, cause } = failure;
	const error = redact(cause === undefined ? message : `${message} (${messageOf(cause)})`);
	log[code === 'internal_error' ? 'error' : 'info']({ tool: id, code, error }, 'a tool failed');
}
