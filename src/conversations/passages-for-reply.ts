import { inSpan, type Log, type Span } from '../base/index.ts';
import { completeRagSettings } from '../contract/index.ts';
import { BUILTIN_MODEL, type ChatMessage, type ResolvedModel } from '../models/index.ts';
import type { AssistantRecord, MessageRecord } from '../store/index.ts';
import { type GroundingDependencies, groundingOf } from './grounding.ts';
import { addUsage } from './model-output.ts';
import { rewriteQuery } from './query-rewrite.ts';
import type { ConversationRedaction } from './redaction.ts';
import type { ReplyProgress } from './reply-progress.ts';
import type { Grounding } from './reply-rounds.ts';

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
}

/**
 * The passages for the question, which a provider's model may write a query for.
 * @param how its progress gets the tokens of the query
 */
export async function passagesForReply(
	deps: PassagesDependencies,
	{ assistant, model: { id, name, model }, question, history, redaction }: PassagesRequest,
	{ progress, signal, span }: { progress: ReplyProgress; signal: AbortSignal; span: Span },
): Promise<Grounding> {
	const { rag_settings, knowledge_base_ids } = assistant;
	/** The dialogue as a provider gets it. */
	const sent = redaction ?? { question: question.content, history };
	const rewritten =
		knowledge_base_ids.length === 0 || id === BUILTIN_MODEL
			? null
			: await rewriteQuery(
					{
						setting: completeRagSettings(rag_settings).query_rewrite,
						model,
						name,
						question: sent.question,
						history: sent.history,
						log: deps.log,
						timeoutMs: deps.rewriteTimeoutMs,
					},
					signal,
				);
	if (rewritten?.usage) progress.usage = addUsage(progress.usage, rewritten.usage);
	const written = rewritten?.query ?? null;
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
