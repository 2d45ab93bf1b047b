import { AppError } from '../../base/index.ts';
import { ProviderError } from '../providers/provider-failure.ts';

/**
 * Statuses that have nothing to do with the texts: the key, the payment, the permission, a model that is not installed yet.
 */
const ACCOUNT_STATUSES = new Set<number | null>([401, 402, 403, 404]);

/**
 * Whether an embedder that failed like this may succeed with the same texts later: by itself, or after the operator has set
 * a new key, paid, or installed the model.
 */
export function isRecoverable(thrown: unknown): boolean {
	if (!isProviderFailure(thrown)) return false;
	const { isTransient, status } = thrown.cause.failure;
	return isTransient || ACCOUNT_STATUSES.has(status);
}

/** Whether the failure came from the provider in any way, and not from this server. */
export function isProviderFailure(thrown: unknown): thrown is AppError & { cause: ProviderError } {
	return thrown instanceof AppError && thrown.cause instanceof ProviderError;
}
