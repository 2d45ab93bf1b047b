import { signal } from '@preact/signals';
import { api, type Resource, resultOf } from '../../../api/client.ts';

export type Chunk = Resource<'Chunk'>;

/** A chunk with the part of the document's text that the chunk before it does not have. */
export interface Passage {
	chunk: Chunk;
	/** Its text without the sentences that it repeats. */
	ownText: string;
	words: number;
}

export interface PassagesState {
	passages: readonly Passage[];
	/** Whether all are loaded. */
	isWhole: boolean;
	error: Error | null;
}

/** Chunks of one request. */
const PAGE_SIZE = 100;
/** The longest text that a chunk repeats from the one before: two sentences or 40 words. */
const MAX_OVERLAP_CHARS = 1_000;

/** The passages of a document in reading order. They arrive page by page. */
export class PassageLoader {
	readonly state = signal<PassagesState>({ passages: [], isWhole: false, error: null });
	readonly #path: { id: string; doc_id: string };
	#abort: AbortController | null = null;

	constructor(baseId: string, documentId: string) {
		this.#path = { id: baseId, doc_id: documentId };
	}

	/** Loads all passages from the first. What is shown stays until the first page is there. */
	async load(): Promise<void> {
		this.#abort?.abort();
		const abort = new AbortController();
		this.#abort = abort;
		const { signal } = abort;
		const passages: Passage[] = [];
		let cursor: string | null | undefined;
		try {
			do {
				const query = { limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) };
				const params = { path: this.#path, query };
				const page = await resultOf(
					api.GET('/api/v1/knowledge-bases/{id}/documents/{doc_id}/chunks', { params, signal }),
				);
				for (const chunk of page.data) passages.push(passageOf(chunk, passages.at(-1)?.chunk));
				cursor = page.next_cursor;
				this.state.value = { passages: [...passages], isWhole: cursor === null, error: null };
			} while (cursor !== null);
		} catch (error) {
			if (!signal.aborted) this.state.value = { ...this.state.value, error: error as Error };
		}
	}

	leave(): void {
		this.#abort?.abort();
	}
}

function passageOf(chunk: Chunk, previous: Chunk | undefined): Passage {
	const isSameSection = previous && previous.heading_path.join('\n') === chunk.heading_path.join('\n');
	const overlap = isSameSection ? overlapLength(previous.text, chunk.text) : 0;
	return { chunk, ownText: chunk.text.slice(overlap).trimStart(), words: wordCount(chunk.text) };
}

/** How much of the beginning of a text is the end of the text before. */
function overlapLength(previous: string, text: string): number {
	const longest = Math.min(previous.length, text.length, MAX_OVERLAP_CHARS);
	for (let length = longest; length > 0; length--) {
		if (previous.endsWith(text.slice(0, length))) return length;
	}
	return 0;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

function wordCount(text: string): number {
	let words = 0;
	for (const { isWordLike } of segmenter.segment(text)) if (isWordLike) words++;
	return words;
}
