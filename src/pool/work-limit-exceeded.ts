import { AppError } from '../base/index.ts';

/** A job of a worker exceeded its time limit or the heap of its thread. The same job would probably do so again. */
export class WorkLimitExceeded extends AppError {
	constructor(sentence: string, cause: unknown) {
		super('unavailable', sentence, { retry_after: 1, cause });
	}
}
