import {
	AppError,
	inSpan,
	type Log,
	messageOf,
	NO_SPAN,
	rejectOnAbort,
	type Span,
	type ThrottledLog,
} from '../base/index.ts';
import { completeRagSettings } from '../contract/index.ts';
import type { Knowledge } from '../knowledge/index.ts';
import {
	BUILTIN_MODEL,
	type ChatModel,
	type ChatRequest,
	type CompletedRound,
	isSmallTalk,
	type Models,
} from '../models/index.ts';
import type { AssistantRecord, MessageRecord, Store, ToolRecord } from '../store/index.ts';
import type { ToolFunction, Tools } from '../tools/index.ts';
import { acknowledgementFor } from './acknowledgement.ts';
import { chatHistory } from './chat-history.ts';
import { shownGrounding } from './grounding.ts';
import { askForRound, isEmptyOutput, type ModelOutput } from './model-output.ts';
import { passagesForReply } from './passages-for-reply.ts';
import { redactConversation } from './redaction.ts';
import { mayCallForQuery, queryTokensOf, reservedTokensOf } from './reply-cost.ts';
import { outcomeOf, publicError } from './reply-outcome.ts';
import { type ReplyListener, type ReplyProgress, usageOf } from './reply-progress.ts';
import { callsOf, type Grounding, type ReplyRound, toCompletedRound } from './reply-rounds.ts';
import { admitCalls, runCalls } from './tool-calls.ts';
import type { ReplyOutcome, Turn } from './turn.ts';

export interface ReplyDependencies {
	store: Pick<Store, 'conversations' | 'get' | 'list'>;
	knowledge: Pick<Knowledge, 'search'>;
	models: Models;
	tools: Pick<Tools, 'functionsOf'>;
	/** Whether a person of the workspace is there. */
	isPersonAvailable(workspaceId: string): boolean;
	log: Log;
	/** A broken index fails the search of every reply. */
	searchFailures: ThrottledLog;
	/** Milliseconds for the search, 3,000 by default. */
	searchTimeoutMs?: number | undefined;
	/** Milliseconds for the query that a model writes, 1,500 by default. */
	rewriteTimeoutMs?: number | undefined;
}

/** Rounds of tool calls in a reply. After them the model must answer without tools. */
const MAX_ROUNDS = 8;

/** The abort reason that ends a reply with its text so far. */
export const STOPPED = Symbol('stopped');

/** How a reply is written. */
export interface ReplyWriting {
	/** Kept up to date. */
	progress: ReplyProgress;
	listener: ReplyListener;
	/** Its reason says why the reply ends early: STOPPED, or an error. */
	signal: AbortSignal;
	/** The reply in the trace of its request. */
	span: Span;
}

/** A reply that is being written. */
interface Writing extends ReplyWriting {
	deps: ReplyDependencies;
	turn: Turn;
}

/** What the rounds of a reply have in common. */
interface ReplyInput {
	/** The full name of the model. */
	modelId: string;
	model: ChatModel;
	grounding: Grounding;
	functions: readonly ToolFunction[];
	/** What the model is asked in the first round. */
	request: ChatRequest;
}

/**
 * Writes the reply to a turn:
 * 1. gathers passages, history and tools,
 * 2. asks the model and reports its text piece by piece,
 * 3. makes the calls that the model asks for, and asks again with their results.
 * A request for a person is acknowledged after that, or in place of it where the question asks nothing else.
 * @returns how the reply ended; never throws
 */
export async function writeReply(deps: ReplyDependencies, turn: Turn, how: ReplyWriting): Promise<ReplyOutcome> {
	const writing: Writing = { deps, turn, ...how };
	const { progress, signal } = how;
	try {
		const acknowledgement = await acknowledgementFor(deps, turn);
		if (!acknowledgement?.isWholeReply) await runRounds(writing, await gatherInput(writing));
		if (acknowledgement) appendText(writing, acknowledgement.text);
		return outcomeOf(progress, 'completed');
	} catch (error) {
		if (signal.aborted && signal.reason === STOPPED) return outcomeOf(progress, 'stopped');
		deps.log.warn({ message: turn.reply.id, error: messageOf(error) }, 'reply failed');
		return outcomeOf(progress, 'failed', publicError(signal.aborted ? signal.reason : error));
	}
}

/** Appends a paragraph to the reply. */
function appendText({ progress, listener }: Writing, paragraph: string): void {
	const text = progress.text === '' ? paragraph : `\n\n${paragraph}`;
	progress.text += text;
	listener.text(text);
}

async function gatherInput(writing: Writing): Promise<ReplyInput> {
	const { deps, turn, progress, signal } = writing;
	const assistant = await deps.store.get('assistants', turn.conversation.assistant_id);
	if (!assistant) throw new AppError('model_error', 'The assistant of this conversation does not exist any more.');
	const settings = completeRagSettings(assistant.rag_settings);
	const resolved = deps.models.resolve(turn.reply.model);
	const history = await chatHistory(deps.store, turn.question);
	const kinds = assistant.redaction;
	const redaction = kinds.length === 0 ? null : await redactConversation(deps.store, kinds, turn.question, history);
	const [grounding, functions] = await Promise.all([
		// The text of earlier rounds cites these passages by number: other passages would change its meaning.
		turn.rounds[0]?.grounding ??
			passagesForReply(
				deps,
				{
					...{ assistant, model: resolved, question: turn.question, history, redaction },
					query: mayCallForQuery(turn) ? { reserved_tokens: queryTokensOf(turn) } : null,
				},
				{ progress, signal, span: writing.span },
			),
		functionsOf(deps, assistant, signal),
	]);
	progress.passages = grounding.passages;
	progress.searchFailed = grounding.search_failed ?? false;
	progress.needsCitation = needsCitation(assistant, turn.question, grounding);
	const mayCallModel = grounding.passages.length > 0 || functions.length > 0;
	const isRefused = settings.answer_policy === 'documents_only' && !mayCallModel;
	// The built-in model refuses in the language of the question, and still returns a greeting.
	const { id: modelId, name, model } = isRefused ? deps.models.resolve(BUILTIN_MODEL) : resolved;
	const reservedTokens = reservedTokensOf(turn);
	const request: ChatRequest = {
		model: name,
		instructions: assistant.master_prompt,
		history,
		question: turn.question.content,
		...grounding,
		...(await momentOf(deps, turn, model)),
		answer_policy: settings.answer_policy,
		min_confidence: settings.min_confidence,
		tools: functions.map(({ name, description, parameters }) => ({ name, description, parameters })),
		rounds: turn.rounds.map((round) => toCompletedRound(round, modelId)),
		...(reservedTokens === undefined ? {} : { reserved_tokens: reservedTokens }),
	};
	// The built-in model does not leave the server.
	const asked = redaction === null || modelId === BUILTIN_MODEL ? model : redaction.applyTo(model);
	return { modelId, model: asked, grounding, functions, request };
}

/** Whether a reply without a citation leaves the question unanswered: the documents alone may answer, or they have nothing about it. */
function needsCitation(assistant: AssistantRecord, { content }: MessageRecord, { passages }: Grounding): boolean {
	const isDocumentsOnly = completeRagSettings(assistant.rag_settings).answer_policy === 'documents_only';
	const isExpected = isDocumentsOnly || (assistant.knowledge_base_ids.length > 0 && passages.length === 0);
	return isExpected && !isSmallTalk(content);
}

/** The moment of the question, not of a later attempt to answer it, in the time zone of the deployment. */
async function momentOf(
	{ store }: ReplyDependencies,
	{ conversation, question }: Turn,
	{ needsMoment = false }: ChatModel,
): Promise<Pick<ChatRequest, 'moment'>> {
	if (!needsMoment) return {};
	const deployment = await store.get('deployments', conversation.deployment_id);
	return { moment: { asked_at: question.created_at, time_zone: deployment?.time_zone ?? 'UTC' } };
}

/** Asks the model until it answers without asking for calls. */
async function runRounds(writing: Writing, input: ReplyInput): Promise<void> {
	let { rounds } = input.request;
	for (;;) {
		const output = await askModel(writing, input, rounds);
		if (output.calls.length === 0) return;
		rounds = [...rounds, await runToolRound(writing, input, output)];
	}
}

async function askModel(
	{ progress, listener, signal, span }: Writing,
	{ modelId, model, request }: ReplyInput,
	rounds: readonly CompletedRound[],
): Promise<ModelOutput> {
	const tools = rounds.length < MAX_ROUNDS ? request.tools : [];
	const ask = () =>
		inSpan(span.child('chat', 'client'), (own) => {
			own.set({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': modelId });
			const traced = own === NO_SPAN ? {} : { trace_headers: own.headers };
			return askForRound(model, { ...request, ...traced, tools, rounds }, signal, progress, listener);
		});
	const output = await ask();
	if (!isEmptyOutput(output)) return output;
	// After the result of a call some models return nothing at all the first time.
	if (rounds.length > 0) await rejectOnAbort(listener.anotherCall(usageOf(progress)), signal);
	const secondOutput = rounds.length > 0 ? await ask() : output;
	if (isEmptyOutput(secondOutput)) throw new AppError('model_error', 'The model gave an empty answer.');
	return secondOutput;
}

/** Makes the calls of a round. Returns the round as the model gets it next. */
async function runToolRound(
	{ deps, turn, progress, listener, signal, span }: Writing,
	{ modelId, grounding, functions }: ReplyInput,
	{ text, calls: requested, memory }: ModelOutput,
): Promise<CompletedRound> {
	const messageId = turn.reply.id;
	const earlier = callsOf(progress.rounds);
	const { admitted, refused } = admitCalls(requested, functions, earlier);
	const completed = { text, ...(memory === undefined ? {} : { memory }) };
	if (refused.length > 0) deps.log.info({ message: messageId, refused: refused.length }, 'calls of tools were refused');
	if (admitted.length === 0) {
		await rejectOnAbort(listener.anotherCall(usageOf(progress)), signal);
		return { ...completed, calls: refused };
	}
	const round: ReplyRound = {
		number: progress.rounds.length + 1,
		model: modelId,
		text,
		usage: progress.usage,
		memory: memory ?? null,
		grounding: progress.rounds.length === 0 ? shownGrounding(grounding, progress) : null,
		calls: admitted,
	};
	progress.rounds.push(round);
	// A call is made only after its start is on disk: otherwise a restart could make it twice.
	await rejectOnAbort(listener.round(round, usageOf(progress)), signal).catch((error: unknown) => {
		// It is not stored, and none of its calls is made.
		if (!signal.aborted) progress.rounds.pop();
		throw error;
	});
	const results = await runCalls(messageId, round, earlier, functions, { listener, signal, span });
	return { ...completed, calls: [...results, ...refused] };
}

async function functionsOf(
	{ store, tools }: ReplyDependencies,
	{ tool_ids }: AssistantRecord,
	signal: AbortSignal,
): Promise<ToolFunction[]> {
	if (tool_ids.length === 0) return [];
	const found = await Promise.all(tool_ids.map((id) => store.get('tools', id)));
	const records = found.filter((record): record is ToolRecord => record !== undefined);
	// If not all functions fit, the assistant's own tools come before the many functions that an MCP server may have.
	const isMcp = ({ type }: ToolRecord) => type === 'mcp';
	return tools.functionsOf([...records.filter((tool) => !isMcp(tool)), ...records.filter(isMcp)], signal);
}
