/** A request whose response is not complete. */
export interface PendingExchange {
	/** Whether the response is an event stream. */
	readonly isStreaming: boolean;
	/** Resolves when the response is written or can no longer be written. */
	waitUntilFinished(): Promise<void>;
	/** Ends an event stream. Other responses continue. */
	closeStream(): Promise<void>;
}

/** The exchanges of one server whose responses are not complete, event streams included. */
export class PendingExchanges {
	readonly #exchanges = new Set<PendingExchange>();

	add(exchange: PendingExchange): void {
		this.#exchanges.add(exchange);
	}

	delete(exchange: PendingExchange): void {
		this.#exchanges.delete(exchange);
	}

	get openStreams(): number {
		let streams = 0;
		for (const { isStreaming } of this.#exchanges) if (isStreaming) streams++;
		return streams;
	}

	/** Resolves when no response is pending, event streams aside. */
	async waitUntilIdle(): Promise<void> {
		for (;;) {
			const responses = [...this.#exchanges].filter((exchange) => !exchange.isStreaming);
			if (responses.length === 0) return;
			await Promise.all(responses.map((exchange) => exchange.waitUntilFinished()));
		}
	}

	/** Ends all event streams. Each sends its ready events first. */
	async closeStreams(): Promise<void> {
		await Promise.all([...this.#exchanges].map((exchange) => exchange.closeStream()));
	}
}
