import { inSpan, type Log, type Span } from '../base/index.ts';
import { completeRagSettings } from '../contract/index.ts';
import { BUILTIN_MODEL, type ChatMessage, type ChatRequest, type ResolvedModel } from '../models/index.ts';
import type { AssistantRecord, MessageRecord, Store } from '../store/index.ts';
import { chatHistory } from './chat-history.ts';
import { type GroundingDependencies, groundingOf } from './grounding.ts';
import { isQueryWanted, rewriteQuery } from './query-rewrite.ts';
import type { ConversationRedaction } from './redaction.ts';
import type { ReplyProgress } from './reply-progress.ts';
import type { Grounding } from './reply-rounds.ts';
import type { Turn } from './turn-state.ts';

export interface PassagesDependencies extends GroundingDependencies {
	log: Log;
	/** Milliseconds for the query that a model writes, 1,500 by default. */
	rewriteTimeoutMs?: number | undefined;
}

export interface PassagesRequest {
	assistant: AssistantRecord;
	model: ResolvedModel;
	question: MessageRecord;
	/** The messages before it, oldest first. */
	history: readonly ChatMessage[];
	/** What providers get of the conversation; null if they get all of it. */
	redaction: ConversationRedaction | null;
	/** The most tokens that a call for a query may have, where its price is reserved; null: what is reserved is not enough for one. */
	query: Pick<ChatRequest, 'reserved_tokens'> | null;
}

/**
 * The passages for the question, which a provider's model may write a query for.
 * @param how its progress gets the tokens of the query
 */
export async function passagesForReply(
	deps: PassagesDependencies,
	{ assistant, model: { id, name, model }, question, history, redaction, query: call }: PassagesRequest,
	{ progress, signal, span }: { progress: ReplyProgress; signal: AbortSignal; span: Span },
): Promise<Grounding> {
	const { rag_settings, knowledge_base_ids } = assistant;
	/** The dialogue as a provider gets it. */
	const sent = redaction ?? { question: question.content, history };
	const written =
		knowledge_base_ids.length === 0 || id === BUILTIN_MODEL || call === null
			? null
			: await rewriteQuery(
					{
						setting: completeRagSettings(rag_settings).query_rewrite,
						modelId: id,
						model,
						name,
						question: sent.question,
						history: sent.history,
						reservedTokens: call.reserved_tokens,
						progress,
						log: deps.log,
						span,
						timeoutMs: deps.rewriteTimeoutMs,
					},
					signal,
				);
	const query = written === null ? question.content : (redaction?.restore(written) ?? written);
	const embedded = redaction ? { message: written ?? sent.question, earlier: sent.history } : undefined;
	const { minPassages = 0 } = model;
	const forPrompt = id !== BUILTIN_MODEL;
	const request = { assistant, question, query, earlier: history, embedded, minPassages, forPrompt };
	if (knowledge_base_ids.length === 0) return groundingOf(deps, request, signal);
	return inSpan(span.child('search'), async (own) => {
		const grounding = await groundingOf(deps, request, signal);
		own.set({ 'parley.passages': grounding.passages.length, 'parley.search_failed': grounding.search_failed ?? false });
		return grounding;
	});
}

/**
 * Whether a model will be called for a query, as far as it is known before the question is stored. Redaction may change this for a
 * few messages; the call is made only if its price is reserved.
 */
export async function isQueryExpected(
	store: Pick<Store, 'conversations' | 'get'>,
	{ conversation, question, reply, rounds }: Turn,
): Promise<boolean> {
	if (rounds.length > 0 || reply.model === BUILTIN_MODEL) return false;
	const assistant = await store.get('assistants', conversation.assistant_id);
	if (!assistant || assistant.knowledge_base_ids.length === 0) return false;
	const { query_rewrite } = completeRagSettings(assistant.rag_settings);
	if (query_rewrite !== 'auto') return query_rewrite === 'always';
	return isQueryWanted(query_rewrite, question.content, await chatHistory(store, question));
}
