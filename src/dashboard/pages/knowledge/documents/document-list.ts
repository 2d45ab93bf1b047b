import { signal } from '@preact/signals';
import { api, resultOf } from '../../../api/client.ts';
import type { Document } from '../queries.ts';

/** Documents of one request. */
const PAGE_SIZE = 100;

/** Which documents a list has, and in which order. */
export interface DocumentFilter {
	status: Document['status'] | undefined;
	/** A part of the title, file name or address. */
	name: string | undefined;
	order: 'asc' | 'desc';
}

export interface DocumentListState {
	documents: readonly Document[];
	/** The cursor of the next page; null: everything is loaded; undefined: nothing is loaded yet. */
	next: string | null | undefined;
	error: Error | null;
}

/** The documents of a knowledge base with a filter, as far as the reader has scrolled. */
export class DocumentList {
	readonly state = signal<DocumentListState>({ documents: [], next: undefined, error: null });
	readonly #knowledgeBaseId: string;
	readonly #filter: DocumentFilter;
	#loading: AbortController | null = null;

	constructor(knowledgeBaseId: string, filter: DocumentFilter) {
		this.#knowledgeBaseId = knowledgeBaseId;
		this.#filter = filter;
	}

	/** Loads the next page, once at a time. */
	async loadMore(): Promise<void> {
		const { next } = this.state.value;
		if (this.#loading !== null || next === null) return;
		await this.#load(async (signal) => {
			const page = await this.#page(next, signal);
			const known = new Set(this.state.value.documents.map(({ id }) => id));
			const more = page.data.filter(({ id }) => !known.has(id));
			this.state.value = { documents: [...this.state.value.documents, ...more], next: page.next_cursor, error: null };
		});
	}

	/** Loads again what is shown. The present rows stay until it is there. */
	async reload(): Promise<void> {
		this.#loading?.abort();
		const shown = this.state.value.documents;
		await this.#load(async (signal) => {
			const documents: Document[] = [];
			let next: string | null | undefined;
			do {
				const page = await this.#page(next, signal);
				documents.push(...page.data);
				next = page.next_cursor;
			} while (next !== null && documents.length < shown.length);
			this.state.value = { documents, next, error: null };
		});
	}

	/** Stops loading. */
	leave(): void {
		this.#loading?.abort();
		this.#loading = null;
	}

	/** Shows the present state of a document, if it belongs to the list. */
	update(document: Document): void {
		const { documents, next, error } = this.state.value;
		if (document.knowledge_base_id !== this.#knowledgeBaseId || next === undefined) return;
		const at = documents.findIndex(({ id }) => id === document.id);
		if (at >= 0) {
			const changed = this.#hasStatus(document) ? documents.with(at, document) : documents.toSpliced(at, 1);
			this.state.value = { documents: changed, next, error };
		} else if (this.#isNewest(document)) {
			this.state.value = { documents: [document, ...documents], next, error };
		}
	}

	remove(documentId: string): void {
		const { documents, ...rest } = this.state.value;
		this.state.value = { documents: documents.filter(({ id }) => id !== documentId), ...rest };
	}

	/** Other documents are found by scrolling, or with the next load. */
	#isNewest(document: Document): boolean {
		const { name, order } = this.#filter;
		const [first] = this.state.value.documents;
		const isNewer = first === undefined || document.created_at >= first.created_at;
		return name === undefined && order === 'desc' && isNewer && this.#hasStatus(document);
	}

	#hasStatus({ status }: Document): boolean {
		return this.#filter.status === undefined || this.#filter.status === status;
	}

	async #load(load: (signal: AbortSignal) => Promise<void>): Promise<void> {
		const abort = new AbortController();
		this.#loading = abort;
		try {
			await load(abort.signal);
		} catch (error) {
			if (abort.signal.aborted) return;
			this.state.value = { ...this.state.value, error: error as Error };
		} finally {
			if (this.#loading === abort) this.#loading = null;
		}
	}

	#page(cursor: string | null | undefined, signal: AbortSignal) {
		const { status, name, order } = this.#filter;
		const query = {
			limit: PAGE_SIZE,
			order,
			...(status === undefined ? {} : { status }),
			...(name === undefined ? {} : { name }),
			...(cursor ? { cursor } : {}),
		};
		const params = { path: { id: this.#knowledgeBaseId }, query };
		return resultOf(api.GET('/api/v1/knowledge-bases/{id}/documents', { params, signal }));
	}
}
