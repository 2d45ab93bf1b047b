import { AppError, descriptorShares } from '../base/index.ts';

/** Upper limit of concurrent uploads. A fast sender's may be in memory as a whole: docs/operations.md, "Limits of the HTTP library". */
const MAX_RECEIVING = 128;

/** Bounds concurrent uploads: each is an open file or connection for as long as its sender takes. */
export class UploadLimit {
	readonly #maxReceiving: number;
	#receiving = 0;

	constructor(maxReceiving = Math.min(descriptorShares().uploads, MAX_RECEIVING)) {
		this.#maxReceiving = maxReceiving;
	}

	/** @throws AppError `unavailable` when too many are running */
	async run<T>(receive: () => Promise<T>): Promise<T> {
		if (this.#receiving >= this.#maxReceiving) {
			throw new AppError('unavailable', 'Too many files are being received at once. Try again.', { retry_after: 5 });
		}
		this.#receiving++;
		try {
			return await receive();
		} finally {
			this.#receiving--;
		}
	}
}
