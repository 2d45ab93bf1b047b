import type { CommitOutcome, PendingReply } from '../commit.ts';

/** An outcome as the functions of the database return it. */
export type StoredOutcome =
	| Exclude<CommitOutcome, { outcome: 'replay' | 'committed' }>
	| { outcome: 'committed'; seqs?: number[] }
	| { outcome: 'replay'; body_hash: string; status: number | null; body: string | null; pending: string | null }
	| { outcome: 'failed'; message: string; code: string };

/** @throws FailedCommitError */
export function readOutcome(stored: StoredOutcome): CommitOutcome {
	switch (stored.outcome) {
		case 'committed':
			return { outcome: 'committed', seqs: stored.seqs ?? [] };
		case 'replay': {
			const { body_hash, status, body, pending } = stored;
			if (pending !== null) return { outcome: 'replay', body_hash, pending: JSON.parse(pending) as PendingReply };
			return { outcome: 'replay', body_hash, status: status as number, body: body as string };
		}
		case 'failed':
			throw new FailedCommitError(stored.message, stored.code);
		default:
			return stored;
	}
}

/** The database has refused a commit: nothing of it was written. */
export class FailedCommitError extends Error {
	readonly code: string;

	constructor(message: string, code: string, options?: ErrorOptions) {
		super(message, options);
		this.name = 'FailedCommitError';
		this.code = code;
	}
}
