import type { Hints } from '../store/index.ts';
import { addListener } from './presence.ts';

interface WorkspaceState {
	/** Open streams of people. */
	open: number;
	/** Ends the time after the last stream has closed; null while one is open. */
	expires: NodeJS.Timeout | null;
}

/** For how long a person counts as available whose dashboard was closed (ms): a reload must not be an absence. */
const GRACE_MS = 60_000;
/** A node says this often where its people are (ms), and each time counts for so long on the others. */
const REPORT_MS = 3_000;
const REPORTED_MS = 15_000;
/** Workspaces with people at other nodes. More are not known here. */
const MAX_REPORTED = 10_000;

/**
 * Whether a person of a workspace is there: a dashboard is open, or was open a minute ago. It is only in memory. The nodes of a cluster
 * tell one another; a report that is lost is followed by the next.
 */
export class Availability implements Disposable {
	readonly #workspaces = new Map<string, WorkspaceState>();
	readonly #listeners = new Map<string, Set<() => void>>();
	readonly #graceMs: number;
	readonly #hints: Hints | undefined;
	/** Workspaces with people at other nodes, each with the end of its last report. */
	readonly #reported = new Map<string, NodeJS.Timeout>();
	readonly #unsubscribe: () => void;
	readonly #reports: NodeJS.Timeout | undefined;

	/** @param hints absent: there are no other nodes */
	constructor(graceMs: number = GRACE_MS, hints?: Hints) {
		this.#graceMs = graceMs;
		this.#hints = hints;
		this.#unsubscribe =
			hints?.subscribe('available', (ids) => {
				for (const id of ids) this.#acceptReport(id);
			}) ?? (() => {});
		if (hints)
			this.#reports = setInterval(() => hints.publish('available', this.#workspaces.keys()), REPORT_MS).unref();
	}

	isAvailable(workspaceId: string): boolean {
		return this.#workspaces.has(workspaceId) || this.#reported.has(workspaceId);
	}

	/** A person has come. Returns a function to call once when the person leaves. */
	enter(workspaceId: string): () => void {
		const state = this.#workspaces.get(workspaceId) ?? { open: 0, expires: null };
		const isFirst = !this.#workspaces.has(workspaceId);
		const wasAvailable = this.isAvailable(workspaceId);
		state.open++;
		if (state.expires) clearTimeout(state.expires);
		state.expires = null;
		this.#workspaces.set(workspaceId, state);
		if (isFirst) this.#hints?.publish('available', [workspaceId]);
		if (!wasAvailable) this.#notify(workspaceId);
		return () => {
			if (--state.open > 0) return;
			state.expires = setTimeout(() => {
				this.#workspaces.delete(workspaceId);
				if (!this.isAvailable(workspaceId)) this.#notify(workspaceId);
			}, this.#graceMs).unref();
		};
	}

	/** Calls the listener when the availability of a workspace changes. Returns a function that ends this. */
	onChange(workspaceId: string, listener: () => void): () => void {
		return addListener(this.#listeners, workspaceId, listener);
	}

	#acceptReport(workspaceId: string): void {
		const known = this.#reported.get(workspaceId);
		if (known !== undefined) return void known.refresh();
		if (this.#reported.size >= MAX_REPORTED) return;
		const wasAvailable = this.isAvailable(workspaceId);
		const expires = setTimeout(() => {
			this.#reported.delete(workspaceId);
			if (!this.isAvailable(workspaceId)) this.#notify(workspaceId);
		}, REPORTED_MS).unref();
		this.#reported.set(workspaceId, expires);
		if (!wasAvailable) this.#notify(workspaceId);
	}

	#notify(workspaceId: string): void {
		for (const listener of this.#listeners.get(workspaceId) ?? []) listener();
	}

	[Symbol.dispose](): void {
		for (const { expires } of this.#workspaces.values()) if (expires) clearTimeout(expires);
		this.#workspaces.clear();
		for (const expires of this.#reported.values()) clearTimeout(expires);
		this.#reported.clear();
		this.#unsubscribe();
		clearInterval(this.#reports);
	}
}
