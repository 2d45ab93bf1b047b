import { AppError, anySignal, messageOf, rejectOnAbort, sleep, type ThrottledLog } from '../base/index.ts';
import { completeRagSettings, type SearchHit, type SearchResult } from '../contract/index.ts';
import type { Knowledge, SearchOptions } from '../knowledge/index.ts';
import type { ChatMessage, Passage } from '../models/index.ts';
import type { AssistantRecord, KnowledgeBaseRecord, MessageRecord, Store } from '../store/index.ts';
import type { ReplyProgress } from './reply-progress.ts';
import type { Grounding } from './reply-rounds.ts';

export interface GroundingDependencies {
	store: Pick<Store, 'get'>;
	knowledge: Pick<Knowledge, 'search'>;
	searchFailures: ThrottledLog;
	/** Milliseconds for the search with its retries, 3,000 by default. */
	searchTimeoutMs?: number | undefined;
}

/** The time limit of the search with its retries. After it the reply goes on without passages. */
const SEARCH_TIMEOUT_MS = 3_000;
/** The part of it for the vector of the question. After it the search uses full text alone. */
const QUESTION_VECTOR_TIMEOUT_MS = 1_500;
const SEARCH_RETRY_DELAY_MS = 500;

/** Without knowledge bases. */
const NO_GROUNDING: Grounding = { passages: [], confidence: 0 };

export interface GroundingRequest {
	assistant: AssistantRecord;
	question: MessageRecord;
	/** What is searched for: the text of the question, or what a model made of it. */
	query: string;
	/** The messages before it, oldest first, on which a follow-up depends. */
	earlier: readonly ChatMessage[];
	/** The dialogue as the embedder of a provider gets it; absent if it gets the query and the messages themselves. */
	embedded: SearchOptions['embedded'];
	/** The number of passages that the model reads even if the assistant has a lower `top_k`. */
	minPassages: number;
	/** The passages are for the prompt of a provider's model. */
	forPrompt: boolean;
}

/** Searches the assistant's knowledge bases for a question. */
export async function groundingOf(
	deps: GroundingDependencies,
	request: GroundingRequest,
	signal: AbortSignal,
): Promise<Grounding> {
	if (request.assistant.knowledge_base_ids.length === 0) return NO_GROUNDING;
	const found = await search(deps, request, signal);
	if (found === null) return { passages: [], confidence: 0, search_failed: true };
	const { synonyms } = found;
	const grounding = { passages: found.hits.map(passageOf), confidence: found.confidence };
	return synonyms === undefined ? grounding : { ...grounding, synonyms };
}

/** The part of a grounding that the model was given: other passages cannot be cited. */
export function shownGrounding(grounding: Grounding, { passages, shownIndexes }: ReplyProgress): Grounding {
	const { confidence, search_failed } = grounding;
	const shown = { passages: passages.filter(({ index }) => shownIndexes.has(index)), confidence };
	return search_failed ? { ...shown, search_failed } : shown;
}

/** The best passages for a question; null if the search fails, which is logged. */
async function search(
	{ store, knowledge, searchFailures, searchTimeoutMs = SEARCH_TIMEOUT_MS }: GroundingDependencies,
	{ assistant, question, query, earlier, embedded, minPassages, forPrompt }: GroundingRequest,
	signal: AbortSignal,
): Promise<SearchResult | null> {
	const found = await Promise.all(assistant.knowledge_base_ids.map((id) => store.get('knowledge_bases', id)));
	const knowledgeBases = found.filter((record): record is KnowledgeBaseRecord => record !== undefined);
	const timeout = AbortSignal.timeout(searchTimeoutMs);
	const searchSignal = anySignal(signal, timeout);
	const { top_k, min_score } = completeRagSettings(assistant.rag_settings);
	const options = {
		top_k: Math.max(top_k, minPassages),
		min_score,
		earlier,
		embedded,
		forPrompt,
		signal: searchSignal,
		vectorTimeoutMs: QUESTION_VECTOR_TIMEOUT_MS,
	};
	let failure: unknown = new Error('The search took too long.');
	while (!searchSignal.aborted) {
		try {
			return await rejectOnAbort(knowledge.search(knowledgeBases, query, options), searchSignal);
		} catch (error) {
			if (searchSignal.aborted) break;
			failure = error;
			// Only a busy search may succeed a moment later.
			if (!(error instanceof AppError) || error.code !== 'unavailable') break;
			await sleep(SEARCH_RETRY_DELAY_MS, searchSignal);
		}
	}
	if (signal.aborted) throw signal.reason;
	const error = messageOf(failure);
	const cause = causeOf(failure);
	searchFailures.error(
		`${error} ${cause}`,
		{ message: question.id, error, cause },
		'a reply is written without its search',
	);
	return null;
}

function causeOf(failure: unknown): string | undefined {
	const { cause } = failure as { cause?: unknown };
	return cause === undefined ? undefined : messageOf(cause);
}

function passageOf(hit: SearchHit, index: number): Passage {
	const { knowledge_base_id, document_id, chunk_id, title, url, page, heading_path, text, around, score } = hit;
	const position = Number(chunk_id.slice(chunk_id.lastIndexOf('.') + 1));
	const place = { knowledge_base_id, document_id, title, url, page, heading_path, position };
	const passage = { index: index + 1, ...place, text, score };
	return around === undefined ? passage : { ...passage, around };
}
