import { AppError } from '../../base/index.ts';
import { ProviderError } from '../providers/failure.ts';

/** Whether an embedder that failed like this may well succeed with the same texts a little later. */
export function mayPass(thrown: unknown): boolean {
	return thrown instanceof AppError && thrown.cause instanceof ProviderError && thrown.cause.failure.passing;
}
