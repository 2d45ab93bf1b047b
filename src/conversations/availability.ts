import { addListener } from './presence.ts';

interface WorkspaceState {
	/** Open streams of people. */
	open: number;
	/** Ends the time after the last stream has closed; null while one is open. */
	expires: NodeJS.Timeout | null;
}

/** For how long a person counts as available whose dashboard was closed (ms): a reload must not be an absence. */
const GRACE_MS = 60_000;

/** Whether a person of a workspace is there: a dashboard is open, or was open a minute ago. It is only in memory. */
export class Availability implements Disposable {
	readonly #workspaces = new Map<string, WorkspaceState>();
	readonly #listeners = new Map<string, Set<() => void>>();
	readonly #graceMs: number;

	constructor(graceMs: number = GRACE_MS) {
		this.#graceMs = graceMs;
	}

	isAvailable(workspaceId: string): boolean {
		return this.#workspaces.has(workspaceId);
	}

	/** A person has come. Returns a function to call once when the person leaves. */
	enter(workspaceId: string): () => void {
		const state = this.#workspaces.get(workspaceId) ?? { open: 0, expires: null };
		const isFirst = !this.#workspaces.has(workspaceId);
		state.open++;
		if (state.expires) clearTimeout(state.expires);
		state.expires = null;
		this.#workspaces.set(workspaceId, state);
		if (isFirst) this.#notify(workspaceId);
		return () => {
			if (--state.open > 0) return;
			state.expires = setTimeout(() => {
				this.#workspaces.delete(workspaceId);
				this.#notify(workspaceId);
			}, this.#graceMs).unref();
		};
	}

	/** Calls the listener when the availability of a workspace changes. Returns a function that ends this. */
	onChange(workspaceId: string, listener: () => void): () => void {
		return addListener(this.#listeners, workspaceId, listener);
	}

	#notify(workspaceId: string): void {
		for (const listener of this.#listeners.get(workspaceId) ?? []) listener();
	}

	[Symbol.dispose](): void {
		for (const { expires } of this.#workspaces.values()) if (expires) clearTimeout(expires);
		this.#workspaces.clear();
	}
}
