import { AppError } from '../../base/index.ts';
import { ProviderError } from '../providers/failure.ts';

/** Refusals that say nothing of the texts: the key, the bill, the permission, the model that is yet to be installed. */
const OF_THE_ACCOUNT = new Set<number | null>([401, 402, 403, 404]);

/**
 * Whether an embedder that failed like this may well succeed with the same texts later: by itself, or once somebody has given
 * the server a new key, paid, or brought the model back.
 */
export function isWorthWaiting(thrown: unknown): boolean {
	if (!isOfProvider(thrown)) return false;
	const { passing, status } = thrown.cause.failure;
	return passing || OF_THE_ACCOUNT.has(status);
}

/** Whether it was the provider that failed, in whatever way, and nothing of ours. */
export function isOfProvider(thrown: unknown): thrown is AppError & { cause: ProviderError } {
	return thrown instanceof AppError && thrown.cause instanceof ProviderError;
}
