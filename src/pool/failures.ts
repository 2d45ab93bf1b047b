import { AppError, messageOf, shortageFromWorker } from '../base/index.ts';
import type { WorkerPoolLimits } from './limits.ts';
import { ParseOvertime } from './parse-process.ts';
import { WorkLimitExceeded } from './work-limit-exceeded.ts';

/** The API error of a document that could not be parsed. */
export function parseFailure(cause: unknown, { parseCpuMs, parseTimeoutMs }: WorkerPoolLimits): AppError {
	const shortage = shortageFromWorker(cause);
	if (shortage) return shortage;
	// A missing stored file or a failing disk is not the document's fault. Node's messages of such errors are `CODE: text`.
	if (/^E[A-Z0-9]+: /.test(messageOf(cause))) {
		return new AppError('unavailable', 'The stored file could not be opened.', { retry_after: 1, cause });
	}
	if (isOutOfMemory(cause)) return documentTooLarge(cause);
	if (cause instanceof ParseOvertime) {
		const sentence = `Reading the file takes more than ${parseCpuMs / 1000} seconds of processor time.`;
		return new AppError('resource_limit', sentence, { cause });
	}
	// It took little processor time, so the machine may be the cause: retry a few times.
	if (isTimeout(cause)) {
		const sentence = `Reading the file did not end within ${parseTimeoutMs / 1000} seconds.`;
		return new AppError('unavailable', sentence, { retry_after: 1, cause });
	}
	return new AppError('unreadable_file', 'The file cannot be read: its reader gave up.', { cause });
}

/** The error of a document that exhausts the memory of its thread, or that ends the parsing process while it is alone in it. */
export function documentTooLarge(cause: unknown): AppError {
	return new AppError('resource_limit', 'Reading the file takes more memory than this server allows.', { cause });
}

/**
 * The API error of failed work of a durable job. The job waits while the system lacks a resource; work that exceeds a limit is a
 * `WorkLimitExceeded`.
 */
export function jobFailure(what: string, cause: unknown): AppError {
	if (isTimeout(cause)) return new WorkLimitExceeded(`${what} took too long.`, cause);
	if (isOutOfMemory(cause)) return new WorkLimitExceeded(`${what} took more memory than a thread has.`, cause);
	return shortageFromWorker(cause) ?? requestFailure(what, cause);
}

/** The API error of failed work that a client waits for. It is not retried. */
export function requestFailure(what: string, cause: unknown): AppError {
	return new AppError('unavailable', `${what} ${isTimeout(cause) ? 'took too long' : 'failed'}.`, {
		retry_after: 1,
		cause,
	});
}

function isOutOfMemory(cause: unknown): boolean {
	return (cause as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function isTimeout(cause: unknown): boolean {
	return cause instanceof DOMException && cause.name === 'TimeoutError';
}
