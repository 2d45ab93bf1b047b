import { rejectOnAbort } from '../../base/index.ts';
import type { McpSession } from './mcp-session.ts';

/** A session, open or being opened, with several users. It is closed once it is dropped and has no users. */
export class SharedSession {
	readonly #session: Promise<McpSession>;
	#users = 0;
	#isRetired = false;

	constructor(session: Promise<McpSession>) {
		this.#session = session;
	}

	/** Waits for the session, and uses it. */
	async use<T>(signal: AbortSignal, act: (session: McpSession) => Promise<T>): Promise<T> {
		this.#users++;
		try {
			return await act(await rejectOnAbort(this.#session, signal));
		} finally {
			this.#users--;
			this.#closeIfUnused();
		}
	}

	/** It gets no new users from now on. */
	retire(): void {
		this.#isRetired = true;
		this.#closeIfUnused();
	}

	/** Closes it at once, also while it is used. Never rejects. */
	async close(): Promise<void> {
		const session = await this.#session.catch(() => null);
		await session?.close();
	}

	#closeIfUnused(): void {
		if (this.#isRetired && this.#users === 0) void this.close();
	}
}
