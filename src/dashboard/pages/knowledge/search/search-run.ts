import { signal } from '@preact/signals';
import type { operations } from '../../../../../.build/openapi/client.d.ts';
import { api, resultOf } from '../../../api/client.ts';

type SearchResponse = operations['searchKnowledgeBase']['responses'][200]['content']['application/json'];
export type Hit = SearchResponse['data'][number];

/** What is searched for, and how. */
export interface SearchInput {
	query: string;
	hybrid: boolean;
	/** The share of the meaning, 0..1. */
	semanticWeight: number;
	minScore: number;
	/** The passages that a reply gets. */
	topK: number;
}

export interface SearchState {
	/** Best first; null before the first search. */
	hits: readonly Hit[] | null;
	/** The chunks that a reply gets. */
	inReply: ReadonlySet<string>;
	isRunning: boolean;
	error: Error | null;
}

/** Passages that are shown. */
const SHOWN = 20;

/** The searches of the page. A search ends the one before it. */
export class SearchRun {
	readonly state = signal<SearchState>({ hits: null, inReply: new Set(), isRunning: false, error: null });
	readonly #id: string;
	#abort: AbortController | null = null;

	constructor(knowledgeBaseId: string) {
		this.#id = knowledgeBaseId;
	}

	/** Searches for all passages, and for those of a reply: only the server knows which repeat another one. */
	async search({ query, hybrid, semanticWeight, minScore, topK }: SearchInput): Promise<void> {
		this.#abort?.abort();
		const abort = new AbortController();
		this.#abort = abort;
		const { signal } = abort;
		this.state.value = { ...this.state.value, isRunning: true };
		const params = { path: { id: this.#id } };
		const same = { query, hybrid, semantic_weight: semanticWeight };
		const find = (body: object) =>
			resultOf(api.POST('/api/v1/knowledge-bases/{id}/search', { params, body: { ...same, ...body }, signal }));
		try {
			const [all, reply] = await Promise.all([
				find({ top_k: Math.max(SHOWN, topK) }),
				find({ top_k: topK, min_score: minScore, for_reply: true }),
			]);
			const inReply = new Set(reply.data.map(({ chunk_id }) => chunk_id));
			const found = new Set(all.data.map(({ chunk_id }) => chunk_id));
			const hits = [...all.data, ...reply.data.filter(({ chunk_id }) => !found.has(chunk_id))];
			this.state.value = { hits, inReply, isRunning: false, error: null };
		} catch (error) {
			if (signal.aborted) return;
			this.state.value = { hits: null, inReply: new Set(), isRunning: false, error: error as Error };
		}
	}

	leave(): void {
		this.#abort?.abort();
	}
}
