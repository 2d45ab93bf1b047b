import { AppError, type Log, messageOf, rejectOnAbort, sleep, type ThrottledLog } from '../base/index.ts';
import type { Citation, SearchHit, SearchResult, Usage } from '../contract/index.ts';
import type { Knowledge } from '../knowledge/index.ts';
import {
	type ChatMessage,
	type ChatRequest,
	type CompletedRound,
	citedIndexes,
	type ModelEvent,
	type Models,
	type ModelToolCall,
	type ModelUsage,
	type Passage,
} from '../models/index.ts';
import type { AssistantRecord, KnowledgeBaseRecord, MessageRecord, Store, ToolRecord } from '../store/index.ts';
import type { ToolFunction, Tools } from '../tools/index.ts';
import { abortableStream } from './abortable-stream.ts';
import type { ReplyListener, ReplyProgress } from './reply-progress.ts';
import { callsOf, type Grounding, type ReplyRound, stopIfRunning, toCompletedRound } from './reply-rounds.ts';
import { SurrogatePairJoiner } from './surrogate-pair-joiner.ts';
import { admitCalls, runCalls } from './tool-calls.ts';
import type { ReplyOutcome, Turn } from './turn.ts';

export interface ReplyDependencies {
	store: Pick<Store, 'get' | 'messagesBefore'>;
	knowledge: Pick<Knowledge, 'search'>;
	models: Models;
	tools: Pick<Tools, 'functionsOf'>;
	log: Log;
	/** A broken index fails the search of every reply. */
	searchFailures: ThrottledLog;
}

/** Earlier messages that a model is given at most; it takes what fits. */
const MAX_HISTORY_MESSAGES = 100;
/** Characters of a reply at most: a model that does not stop is stopped. */
const MAX_REPLY_CHARS = 200_000;
/** Rounds of tool calls in a reply; then the model must answer without them. */
const MAX_ROUNDS = 8;
/** A visitor waits no longer for the search, its repeats included; then the reply goes on without it. */
const SEARCH_TIMEOUT_MS = 3_000;
/** Of that, for the vector of the question; then the search goes by words alone. */
const QUESTION_VECTOR_TIMEOUT_MS = 1_500;
const SEARCH_RETRY_DELAY_MS = 500;

/** Aborting a reply with this as the reason keeps the text so far. */
export const STOPPED = Symbol('stopped');

/**
 * Writes the reply to a turn: retrieve, ask the model, carry out the calls that it asks for and ask again, hand on its text
 * piece by piece.
 * @param progress is kept up to date
 * @param signal its reason tells why the reply ends early: STOPPED, or an error
 * @param committed where the turn is being stored: its model is asked when it is on disk
 * @returns how the reply ended, whatever happened; never throws
 */
export async function writeReply(
	deps: ReplyDependencies,
	turn: Turn,
	progress: ReplyProgress,
	listener: ReplyListener,
	signal: AbortSignal,
	committed: Promise<unknown> = Promise.resolve(),
): Promise<ReplyOutcome> {
	try {
		await generateReply(deps, turn, progress, listener, signal, committed);
		return outcomeOf(progress, 'completed');
	} catch (error) {
		if (signal.aborted && signal.reason === STOPPED) return outcomeOf(progress, 'stopped');
		deps.log.warn({ message: turn.reply.id, error: messageOf(error) }, 'reply failed');
		return outcomeOf(progress, 'failed', publicError(signal.aborted ? signal.reason : error));
	}
}

/** A reply as it ends with what there is of it. */
export function outcomeOf(
	{ text, passages, shownIndexes, rounds, usage }: ReplyProgress,
	status: ReplyOutcome['status'],
	error: ReplyOutcome['error'] = null,
): ReplyOutcome {
	const citable = passages.filter(({ index }) => shownIndexes.has(index));
	const tool_calls = callsOf(rounds).map(stopIfRunning);
	return { content: text, status, citations: citationsIn(text, citable), tool_calls, usage, error };
}

async function generateReply(
	deps: ReplyDependencies,
	turn: Turn,
	progress: ReplyProgress,
	listener: ReplyListener,
	signal: AbortSignal,
	committed: Promise<unknown>,
): Promise<void> {
	const assistant = await deps.store.get('assistants', turn.conversation.assistant_id);
	if (!assistant) throw new AppError('model_error', 'The assistant of this conversation does not exist any more.');
	const { id, name, model } = deps.models.resolve(turn.reply.model);
	const [grounding, history, functions] = await Promise.all([
		// What was said in earlier rounds cites these passages: others would change what it says.
		turn.rounds[0]?.grounding ?? groundingOf(deps, assistant, turn.question, signal),
		chatHistory(deps.store, turn.question),
		functionsOf(deps, assistant, signal),
		committed,
	]);
	progress.passages = grounding.passages;
	const request: ChatRequest = {
		model: name,
		instructions: assistant.master_prompt,
		history,
		question: turn.question.content,
		...grounding,
		tools: functions.map(({ name, description, parameters }) => ({ name, description, parameters })),
		rounds: turn.rounds.map((round) => toCompletedRound(round, id)),
	};
	for (;;) {
		const { rounds } = request;
		const tools = rounds.length < MAX_ROUNDS ? request.tools : [];
		const ask = () =>
			readModelStream(abortableStream(model.stream({ ...request, tools }, signal), signal), progress, listener);
		let output = await ask();
		// Models that have the result of a call before them sometimes say nothing at all: once more, they do.
		if (isEmptyOutput(output) && rounds.length > 0) output = await ask();
		if (isEmptyOutput(output)) throw new AppError('model_error', 'The model gave an empty answer.');
		if (output.calls.length === 0) return;
		const step = await runToolRound(
			deps,
			turn.reply.id,
			{ ...output, model: id, grounding },
			functions,
			progress,
			listener,
			signal,
		);
		request.rounds = [...rounds, step];
	}
}

function isEmptyOutput({ text, calls }: ModelOutput): boolean {
	return calls.length === 0 && text.trim() === '';
}

/** Has the calls of a round carried out; the round is what its model is told of next. */
async function runToolRound(
	{ log }: Pick<ReplyDependencies, 'log'>,
	messageId: string,
	{ text, calls: requested, memory, model, grounding }: ModelOutput & Pick<ReplyRound, 'model' | 'grounding'>,
	functions: readonly ToolFunction[],
	progress: ReplyProgress,
	listener: ReplyListener,
	signal: AbortSignal,
): Promise<CompletedRound> {
	const earlier = callsOf(progress.rounds);
	const { admitted, refused } = admitCalls(requested, functions, earlier);
	const step = { text, ...(memory === undefined ? {} : { memory }) };
	if (refused.length > 0) log.info({ message: messageId, refused: refused.length }, 'calls of tools were refused');
	if (admitted.length === 0) return { ...step, calls: refused };
	const round: ReplyRound = {
		number: progress.rounds.length + 1,
		model,
		text,
		usage: progress.usage,
		memory: memory ?? null,
		grounding: progress.rounds.length === 0 ? shownGrounding(grounding, progress) : null,
		calls: admitted,
	};
	progress.rounds.push(round);
	// What was not known to have begun could be done twice.
	await rejectOnAbort(listener.round(round), signal);
	const results = await runCalls(messageId, round, earlier, functions, listener, signal);
	return { ...step, calls: [...results, ...refused] };
}

/** What the model has seen of it: the rest is cited nowhere. */
function shownGrounding(grounding: Grounding | null, { passages, shownIndexes }: ReplyProgress): Grounding {
	const kept = {
		passages: passages.filter(({ index }) => shownIndexes.has(index)),
		confidence: grounding?.confidence ?? 0,
	};
	return grounding?.search_failed ? { ...kept, search_failed: true } : kept;
}

/** What a model said in one round. */
interface ModelOutput {
	text: string;
	calls: ModelToolCall[];
	memory?: unknown;
}

/** Takes in what the model says in one round, and the calls that it asks for. */
async function readModelStream(
	events: AsyncIterable<ModelEvent>,
	progress: ReplyProgress,
	listener: ReplyListener,
): Promise<ModelOutput> {
	const calls: ModelToolCall[] = [];
	const characters = new SurrogatePairJoiner();
	let text = '';
	let memory: unknown;
	const appendText = (said: string) => {
		if (said === '') return;
		// What is said after a call begins a paragraph of its own.
		const piece = text === '' && progress.text !== '' ? `\n\n${said}` : said;
		if (progress.text.length + piece.length > MAX_REPLY_CHARS) {
			throw new AppError('model_error', 'The model wrote too much.');
		}
		text += said;
		progress.text += piece;
		listener.text(piece);
	};
	let started = false;
	for await (const event of events) {
		if (!started) {
			started = true;
			const indexes = event.type === 'passages' ? event.indexes : progress.passages.map(({ index }) => index);
			for (const index of indexes) progress.shownIndexes.add(index);
		}
		switch (event.type) {
			case 'delta':
				appendText(characters.add(event.text));
				break;
			case 'usage':
				progress.usage = addUsage(progress.usage, event);
				break;
			case 'tool_call':
				calls.push(event);
				break;
			case 'memory':
				memory = event.memory;
		}
	}
	appendText(characters.end());
	return { text, calls, memory };
}

/** What all rounds together have cost. */
function addUsage(before: ReplyProgress['usage'], { input_tokens, output_tokens }: ModelUsage): Usage {
	const sum = (a: number, b: number) => Math.min(a + b, Number.MAX_SAFE_INTEGER);
	return {
		input_tokens: sum(before?.input_tokens ?? 0, input_tokens),
		output_tokens: sum(before?.output_tokens ?? 0, output_tokens),
	};
}

/** A failure as the message shows it; a defect of ours shows no internals. */
function publicError(error: unknown): { code: string; message: string } {
	if (error instanceof AppError && error.code === 'model_error') return { code: error.code, message: error.message };
	return { code: 'model_error', message: 'The model failed to answer.' };
}

async function functionsOf(
	{ store, tools }: ReplyDependencies,
	{ tool_ids }: AssistantRecord,
	signal: AbortSignal,
): Promise<ToolFunction[]> {
	if (tool_ids.length === 0) return [];
	const found = await Promise.all(tool_ids.map((id) => store.get('tools', id)));
	const records = found.filter((record): record is ToolRecord => record !== undefined);
	// Where there is no room for all, what was made for this assistant stays before all that a server has to offer.
	const isMcp = ({ type }: ToolRecord) => type === 'mcp';
	return tools.functionsOf([...records.filter((tool) => !isMcp(tool)), ...records.filter(isMcp)], signal);
}

async function groundingOf(
	deps: ReplyDependencies,
	assistant: AssistantRecord,
	question: MessageRecord,
	signal: AbortSignal,
): Promise<Grounding> {
	const found = await retrieve(deps, assistant, question, signal);
	if (found === null) return { passages: [], confidence: 0, search_failed: true };
	return { passages: found.hits.map(passageOf), confidence: found.confidence };
}

/** The best passages for a question; null where the knowledge bases cannot be searched, which the log then tells. */
async function retrieve(
	{ store, knowledge, searchFailures }: ReplyDependencies,
	assistant: AssistantRecord,
	question: MessageRecord,
	signal: AbortSignal,
): Promise<SearchResult | null> {
	const found = await Promise.all(assistant.knowledge_base_ids.map((id) => store.get('knowledge_bases', id)));
	const knowledgeBases = found.filter((record): record is KnowledgeBaseRecord => record !== undefined);
	const timeout = AbortSignal.timeout(SEARCH_TIMEOUT_MS);
	const searchSignal = AbortSignal.any([signal, timeout]);
	const options = { ...assistant.rag_settings, signal: searchSignal, vectorTimeoutMs: QUESTION_VECTOR_TIMEOUT_MS };
	let failure: unknown = new Error('The search took too long.');
	while (!searchSignal.aborted) {
		try {
			return await rejectOnAbort(knowledge.search(knowledgeBases, question.content, options), searchSignal);
		} catch (error) {
			if (searchSignal.aborted) break;
			failure = error;
			// Busy may pass in a moment; whatever else it is does not.
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

async function chatHistory(store: Pick<Store, 'messagesBefore'>, question: MessageRecord): Promise<ChatMessage[]> {
	const messages = await store.messagesBefore(question.conversation_id, question.seq, MAX_HISTORY_MESSAGES);
	return messages
		.filter(({ content, status }) => content.trim() !== '' && (status === 'completed' || status === 'stopped'))
		.map(({ role, content }) => ({ role, content }));
}

function passageOf(hit: SearchHit, index: number): Passage {
	const { document_id, title, url, page, heading_path, text, score } = hit;
	return { index: index + 1, document_id, title, url, page, heading_path, text, score };
}

/** The passages that the text cites, in order of first mention. */
function citationsIn(text: string, passages: readonly Passage[]): Citation[] {
	return citedIndexes(text, passages).flatMap((index) => {
		const passage = passages.find((each) => each.index === index);
		if (!passage) return [];
		const { document_id, title, url, page, text: quoted, score } = passage;
		return [{ index, document_id, title, url, page, text: quoted, score }];
	});
}
