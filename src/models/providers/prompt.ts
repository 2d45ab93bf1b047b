import { AppError } from '../../base/index.ts';
import type { ChatRequest, CompletedRound, Passage, ToolDefinition } from '../chat-model.ts';
import { newestThatFit, pairMessages, type QuestionAndAnswer } from './history.ts';
import { maxMinFairShare } from './max-min-fair-share.ts';
import { passageBlock, renderPassage } from './passage-block.ts';
import type { AssistantPart, PromptMessage } from './prompt-message.ts';
import { reasoningIn, remembered } from './round-memory.ts';
import type { ModelLimits } from './settings.ts';
import { storedMemory } from './stored-memory.ts';
import { PLACEHOLDER_RULE, systemMessage } from './system-message.ts';
import { firstTokens, MESSAGE_TOKENS, tokensOf } from './tokens.ts';
import { sanitiseSchema } from './untrusted-schema.ts';
import { sanitise } from './untrusted-text.ts';

/** The prompt for a model, the same for every provider. */
export interface ComposedPrompt {
	prompt: PromptMessage[];
	tools: ToolDefinition[];
	/** The source numbers of the passages in it. */
	passages: number[];
	/** The names of the tools that do not fit. */
	omittedTools: string[];
	/** The most tokens that it has; null without a reservation. */
	tokens: number | null;
}

/** Tokens that are reserved for the answer if the settings have no limit; a quarter of the context at most. */
export const RESERVED_REPLY_TOKENS = 4_096;
/** The share of the tools in what the instructions and the question leave. */
const TOOLS_SHARE = 0.5;
/** The share of the results of tools in what is left beside the question. */
const RESULTS_SHARE = 0.75;
/** Fewer tokens of a passage have no meaning. */
const MIN_PASSAGE_TOKENS = 256;
/** The delimiters of the block of passages. */
const BLOCK_TOKENS = 64;
/** The separator of two passages. */
const SEPARATOR_TOKENS = 2;
const SEARCH_FAILED =
	'The search in the documents has failed for this question. Say that the documents cannot be searched right now, and make up nothing that they might say.';
const TRUNCATION_NOTE = '\n[The rest is left out: it is more than the model can read.]';

/**
 * Composes the prompt for a request. Parts that do not fit into the context are omitted, in this order: the oldest exchanges
 * of the conversation, whole; then the passages that match least; then the ends of the longest results of tools. Tools have
 * a share of their own, and tools beyond it are not offered.
 * @throws AppError `model_error` if the instructions and the question, or the calls so far, do not fit alone
 */
export function composePrompt(request: ChatRequest, limits: ModelLimits): ComposedPrompt {
	const system = systemText(request);
	const question = sanitise(request.question);
	const fixed = sum([system, question].map((text) => tokensOf(text) + MESSAGE_TOKENS));
	const reserved = request.reserved_tokens?.input_tokens ?? Number.POSITIVE_INFINITY;
	const availableTokens = Math.min(inputTokens(limits), reserved) - BLOCK_TOKENS - fixed;
	if (availableTokens < 0) throw tooLong();
	const { tools, omittedTools, tokens } = toolsThatFit(request.tools, availableTokens * TOOLS_SHARE);
	const afterTools = availableTokens - tokens;
	const rounds = roundsThatFit(request.rounds, afterTools);
	const afterRounds = afterTools - sum(rounds.map(tokensOfRound));
	if (afterRounds < 0) throw tooLong();
	const passages = passagesThatFit(request.passages, afterRounds);
	const afterPassages = afterRounds - sum(passages.map(({ rendered }) => tokensOfPassage(rendered)));
	const history = newestThatFit(pairMessages(request.history), tokensOfPair, afterPassages).map(sanitisePair);
	const beforeHistory = BLOCK_TOKENS + fixed + availableTokens - afterPassages;

	const questionText =
		passages.length === 0
			? question
			: `${passageBlock(inDocumentOrder(passages).map(({ rendered }) => rendered))}\n\n${question}`;
	const prompt: PromptMessage[] = [
		{ role: 'system', text: system },
		...alternateRoles([...history, { question: questionText, reply: null }]),
		...rounds.flatMap(messagesOfRound),
	];
	const total =
		request.reserved_tokens === undefined ? null : Math.ceil(beforeHistory + sum(history.map(tokensOfPair)));
	return { prompt, tools, passages: passages.map(({ index }) => index), omittedTools, tokens: total };
}

function systemText({ purpose, instructions, search_failed, answer_policy, has_placeholders }: ChatRequest): string {
	if (purpose === 'query') return instructions;
	const text = systemMessage(search_failed ? withFailedSearch(instructions) : instructions, answer_policy);
	return has_placeholders ? `${text}\n${PLACEHOLDER_RULE}` : text;
}

/** Without this note, a model would answer as if the documents had no answer, or invent one. */
function withFailedSearch(instructions: string): string {
	return `${instructions}\n\n${SEARCH_FAILED}`.trim();
}

/** The tokens that a model may read, so that its answer fits into the context too. */
function inputTokens({ context_tokens, max_output_tokens }: ModelLimits): number {
	const quarter = Math.floor(context_tokens / 4);
	// Some settings limit the answer to almost the whole context. Answers do not take that much.
	const replyTokens =
		max_output_tokens === null ? Math.min(RESERVED_REPLY_TOKENS, quarter) : Math.min(max_output_tokens, 2 * quarter);
	return context_tokens - replyTokens;
}

function defusedTool({ name, description, parameters }: ToolDefinition): ToolDefinition {
	return {
		name,
		description: description === null ? null : sanitise(description),
		parameters: sanitiseSchema(parameters),
	};
}

/** The tools that fit, in their order. A tool that is too large is skipped, and later ones may fit. */
function toolsThatFit(
	offered: ChatRequest['tools'],
	maxTokens: number,
): Pick<ComposedPrompt, 'tools' | 'omittedTools'> & { tokens: number } {
	const tools: ToolDefinition[] = [];
	const omittedTools: string[] = [];
	let tokens = 0;
	for (const each of offered) {
		const tool = defusedTool(each);
		const more = tokensOf(JSON.stringify({ type: 'function', ...tool })) + MESSAGE_TOKENS;
		if (tokens + more > maxTokens) {
			omittedTools.push(each.name);
			continue;
		}
		tools.push(tool);
		tokens += more;
	}
	return { tools, omittedTools, tokens };
}

/** The rounds, with the results of their tools cut to their share. */
function roundsThatFit(rounds: readonly CompletedRound[], maxTokens: number): CompletedRound[] {
	const sanitised = rounds.map((step) => ({
		...step,
		calls: step.calls.map((call) => ({ ...call, result: sanitise(call.result) })),
	}));
	const results = sanitised.flatMap(({ calls }) => calls.map(({ result }) => tokensOf(result)));
	const otherTokens = sum(sanitised.map(tokensOfRound)) - sum(results);
	const bound = maxMinFairShare(results, maxTokens * RESULTS_SHARE - otherTokens);
	if (bound === Number.POSITIVE_INFINITY) return sanitised;
	return sanitised.map((step) => ({
		...step,
		calls: step.calls.map((call) => ({ ...call, result: truncateTokens(call.result, bound) })),
	}));
}

function truncateTokens(text: string, tokens: number): string {
	if (tokensOf(text) <= tokens) return text;
	return firstTokens(text, Math.max(0, tokens - tokensOf(TRUNCATION_NOTE))) + TRUNCATION_NOTE;
}

interface RenderedPassage extends Pick<Passage, 'index' | 'document_id' | 'position'> {
	rendered: string;
}

/** The rendered passages that fit, best first and whole. If none fits, the beginning of the best one. */
function passagesThatFit(passages: readonly Passage[], maxTokens: number): RenderedPassage[] {
	const fitting: RenderedPassage[] = [];
	let remaining = maxTokens;
	for (const passage of passages) {
		const rendered = renderPassage(passage);
		const tokens = tokensOfPassage(rendered);
		if (tokens > remaining) continue;
		fitting.push({ ...placeOf(passage), rendered });
		remaining -= tokens;
	}
	const [best] = passages;
	if (fitting.length > 0 || !best || maxTokens < MIN_PASSAGE_TOKENS) return fitting;
	return [{ ...placeOf(best), rendered: firstTokens(renderPassage(best), maxTokens - SEPARATOR_TOKENS) }];
}

function placeOf({ index, document_id, position }: Passage): Omit<RenderedPassage, 'rendered'> {
	return { index, document_id, ...(position === undefined ? {} : { position }) };
}

/** The documents by their best passage, and the passages of each in the order of the document. */
function inDocumentOrder(passages: readonly RenderedPassage[]): RenderedPassage[] {
	const documents = [...new Set(passages.map(({ document_id }) => document_id))];
	return documents.flatMap((id) =>
		passages.filter(({ document_id }) => document_id === id).sort((a, b) => (a.position ?? 0) - (b.position ?? 0)),
	);
}

/** Exchanges as messages whose roles alternate, which the templates of some models require. */
function alternateRoles(exchanges: readonly QuestionAndAnswer[]): PromptMessage[] {
	const messages: PromptMessage[] = [];
	let pendingQuestion = '';
	for (const { question, reply } of exchanges) {
		const text = pendingQuestion === '' ? question : `${pendingQuestion}\n\n${question}`;
		pendingQuestion = reply === null ? text : '';
		if (reply === null) continue;
		messages.push({ role: 'user', text }, { role: 'assistant', parts: [{ type: 'text', text: reply }] });
	}
	return pendingQuestion === '' ? messages : [...messages, { role: 'user', text: pendingQuestion }];
}

function messagesOfRound({ text, calls, memory }: CompletedRound): PromptMessage[] {
	const toolCalls = calls.map(({ id, name, arguments: args }) => {
		return { type: 'tool_call' as const, id, name, input: toolInputOf(args), signature: null };
	});
	// Some providers refuse a text without visible characters.
	const textParts = text.trim() === '' ? [] : [{ type: 'text' as const, text }];
	const parts: AssistantPart[] =
		memory === undefined ? [...textParts, ...toolCalls] : remembered(storedMemory(memory), toolCalls);
	if (calls.length === 0) return [{ role: 'assistant', parts }];
	const results = calls.map(({ id, result, is_error }) => ({ id, result, isError: is_error }));
	return [
		{ role: 'assistant', parts },
		{ role: 'tool', results },
	];
}

/** Arguments as providers accept them back: always an object, even if the model wrote something else. */
function toolInputOf(args: unknown): object {
	const isObject = typeof args === 'object' && args !== null && !Array.isArray(args);
	return isObject ? args : { not_an_object: args };
}

function tokensOfPassage(rendered: string): number {
	return SEPARATOR_TOKENS + tokensOf(rendered);
}

function tokensOfRound({ text, calls, memory }: CompletedRound): number {
	const ofCalls = calls.map(({ name, arguments: args, result }) => {
		return 2 * MESSAGE_TOKENS + tokensOf(name + JSON.stringify(toolInputOf(args))) + tokensOf(result);
	});
	const reasoning = memory === undefined ? '' : reasoningIn(storedMemory(memory));
	return MESSAGE_TOKENS + tokensOf(text) + tokensOf(reasoning) + sum(ofCalls);
}

function tokensOfPair(exchange: QuestionAndAnswer): number {
	const { question, reply } = sanitisePair(exchange);
	return 2 * MESSAGE_TOKENS + tokensOf(question) + tokensOf(reply ?? '');
}

function sanitisePair({ question, reply }: QuestionAndAnswer): QuestionAndAnswer {
	return { question: sanitise(question), reply: reply === null ? null : sanitise(reply) };
}

function sum(numbers: readonly number[]): number {
	return numbers.reduce((total, number) => total + number, 0);
}

function tooLong(): AppError {
	return new AppError(
		'model_error',
		'The message, with the instructions of the assistant, is longer than the model can read.',
	);
}
