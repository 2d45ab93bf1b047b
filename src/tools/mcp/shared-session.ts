import { rejectOnAbort } from '../../base/index.ts';
import type { McpSession } from './mcp-session.ts';

/** A session, open or being opened, that several use at once. It ends once it is dropped and nobody uses it any more. */
export class SharedSession {
	readonly #session: Promise<McpSession>;
	#users = 0;
	#isRetired = false;

	constructor(session: Promise<McpSession>) {
		this.#session = session;
	}

	/** Waits for the session, and has it do something. */
	async use<T>(signal: AbortSignal, act: (session: McpSession) => Promise<T>): Promise<T> {
		this.#users++;
		try {
			return await act(await rejectOnAbort(this.#session, signal));
		} finally {
			this.#users--;
			this.#closeIfUnused();
		}
	}

	/** Nobody will begin to use it from now on. */
	retire(): void {
		this.#isRetired = true;
		this.#closeIfUnused();
	}

	/** Ends it at once, also where it is used. Never rejects. */
	async close(): Promise<void> {
		const session = await this.#session.catch(() => null);
		await session?.close();
	}

	#closeIfUnused(): void {
		if (this.#isRetired && this.#users === 0) void this.close();
	}
}
