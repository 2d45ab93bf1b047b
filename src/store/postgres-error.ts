import { AppError, messageOf } from '../base/index.ts';

const NETWORK_CODES =
	/^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|ENOENT|EACCES|CERT_|ERR_TLS|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)/;

/** An error of the connection to PostgreSQL, or of PostgreSQL, as a sentence; null for another error. */
export function databaseError(error: unknown): AppError | null {
	if (error instanceof AppError || !(error instanceof Error)) return null;
	const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
	const { code } = error as NodeJS.ErrnoException;
	const isOfConnection = NETWORK_CODES.test(code ?? '') || /^Connection terminated|timeout expired/.test(error.message);
	if (!isOfConnection && !('severity' in error)) return null;
	const problem = messageOf(first ?? error).replace(/\.$/, '');
	return new AppError('unavailable', `The PostgreSQL database cannot be used: ${problem}.`, { cause: error });
}
