import { AppError } from '../../base/index.ts';
import { ProviderError } from '../providers/provider-failure.ts';

/** Refusals that say nothing of the texts: the key, the bill, the permission, the model that is yet to be installed. */
const ACCOUNT_STATUSES = new Set<number | null>([401, 402, 403, 404]);

/**
 * Whether an embedder that failed like this may well succeed with the same texts later: by itself, or once somebody has
 * given the server a new key, paid, or brought the model back.
 */
export function isRecoverable(thrown: unknown): boolean {
	if (!isProviderFailure(thrown)) return false;
	const { isTransient, status } = thrown.cause.failure;
	return isTransient || ACCOUNT_STATUSES.has(status);
}

/** Whether it was the provider that failed, in whatever way, and nothing of ours. */
export function isProviderFailure(thrown: unknown): thrown is AppError & { cause: ProviderError } {
	return thrown instanceof AppError && thrown.cause instanceof ProviderError;
}
