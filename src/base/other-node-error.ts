import { AppError } from './errors.ts';

/**
 * Another node of the cluster serves what a request is about. Nothing was done: the request may be passed to that node. Clients get
 * `unavailable` where that is not possible.
 */
export class OtherNodeError extends AppError {
	/** Of the conversation or deployment. */
	readonly id: string;

	constructor(id: string) {
		super('unavailable', 'Another node serves this now. Try again.', { retry_after: 1 });
		this.id = id;
	}
}
