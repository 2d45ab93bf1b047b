import { AppError } from '../../base/index.ts';
import type { ChatRequest, Passage, ReplyStep, ToolDefinition } from '../chat-model.ts';
import { fairBound } from './fair-cut.ts';
import { defusedSchema } from './foreign-schema.ts';
import { defused } from './foreign-text.ts';
import { type Exchange, exchangesOf, newestThatFit } from './history.ts';
import { passageBlock, renderPassage } from './passage-block.ts';
import type { AssistantPart, PromptMessage } from './prompt-message.ts';
import { reasoningIn, remembered } from './round-memory.ts';
import { systemMessage } from './rules.ts';
import type { ModelLimits } from './settings.ts';
import { storedMemory } from './stored-memory.ts';
import { firstTokens, MESSAGE_TOKENS, tokensOf } from './tokens.ts';

/** What a model is asked, without what is the provider's own. */
export interface ComposedPrompt {
	prompt: PromptMessage[];
	tools: ToolDefinition[];
	/** The source numbers of the passages in it. */
	passages: number[];
	/** The names of the tools for which there is no room. */
	leftOut: string[];
}

/** Tokens that are kept for the answer where its length is the provider's business, at most a quarter of all. */
const ANSWER_TOKENS = 4_096;
/** Tools may take so much of what the instructions and the question leave. */
const TOOLS_SHARE = 0.5;
/** Results of tools may take so much of what is left beside the question. */
const RESULTS_SHARE = 0.75;
/** Less of a passage than this says nothing. */
const LEAST_PASSAGE_TOKENS = 256;
/** The delimiters of the block of passages. */
const BLOCK_TOKENS = 64;
/** What separates two passages. */
const SEPARATOR_TOKENS = 2;
const SEARCH_FAILED =
	'The search in the documents has failed for this question. Say that the documents cannot be searched right now, and make up nothing that they might say.';
const CUT = '\n[The rest is left out: it is more than the model can read.]';

/**
 * What a model is sent for a request. What does not fit into its context is left out, in this order: the oldest exchanges of
 * the conversation, whole; then the passages that match least; then the ends of the longest results of tools. Tools have a
 * share of their own, and what is too large for it is not offered.
 * @throws AppError `model_error` where the instructions and the question, or the calls so far, alone do not fit
 */
export function composePrompt(request: ChatRequest, limits: ModelLimits): ComposedPrompt {
	const system = systemMessage(request.search_failed ? withFailedSearch(request.instructions) : request.instructions);
	const question = defused(request.question);
	const fixed = sum([system, question].map((text) => tokensOf(text) + MESSAGE_TOKENS));
	const besides = inputTokens(limits) - BLOCK_TOKENS - fixed;
	if (besides < 0) throw tooLong();
	const { tools, leftOut, tokens } = toolsThatFit(request.tools, besides * TOOLS_SHARE);
	const room = besides - tokens;
	const steps = stepsThatFit(request.steps, room);
	const afterSteps = room - sum(steps.map(tokensOfStep));
	if (afterSteps < 0) throw tooLong();
	const passages = passagesThatFit(request.passages, afterSteps);
	const afterPassages = afterSteps - sum(passages.map(({ rendered }) => tokensOfPassage(rendered)));
	const history = newestThatFit(exchangesOf(request.history), tokensOfExchange, afterPassages).map(defusedExchange);

	const asked =
		passages.length === 0 ? question : `${passageBlock(passages.map(({ rendered }) => rendered))}\n\n${question}`;
	const prompt: PromptMessage[] = [
		{ role: 'system', text: system },
		...alternating([...history, { question: asked, reply: null }]),
		...steps.flatMap(messagesOfStep),
	];
	return { prompt, tools, passages: passages.map(({ index }) => index), leftOut };
}

/** A model that knows nothing of the failure would answer as if the documents held nothing, or make something up. */
function withFailedSearch(instructions: string): string {
	return `${instructions}\n\n${SEARCH_FAILED}`.trim();
}

/** What a model may read, so that there is room for its answer. */
function inputTokens({ context_tokens, max_output_tokens }: ModelLimits): number {
	const quarter = Math.floor(context_tokens / 4);
	// A limit of the answer that is nearly the whole context is a ceiling, not what an answer takes.
	const answer =
		max_output_tokens === null ? Math.min(ANSWER_TOKENS, quarter) : Math.min(max_output_tokens, 2 * quarter);
	return context_tokens - answer;
}

function defusedTool({ name, description, parameters }: ToolDefinition): ToolDefinition {
	return {
		name,
		description: description === null ? null : defused(description),
		parameters: defusedSchema(parameters),
	};
}

/** The tools that fit, in their order: one that is too large leaves its room to those after it. */
function toolsThatFit(
	offered: ChatRequest['tools'],
	room: number,
): Pick<ComposedPrompt, 'tools' | 'leftOut'> & { tokens: number } {
	const tools: ToolDefinition[] = [];
	const leftOut: string[] = [];
	let tokens = 0;
	for (const each of offered) {
		const tool = defusedTool(each);
		const more = tokensOf(JSON.stringify({ type: 'function', ...tool })) + MESSAGE_TOKENS;
		if (tokens + more > room) {
			leftOut.push(each.name);
			continue;
		}
		tools.push(tool);
		tokens += more;
	}
	return { tools, leftOut, tokens };
}

/** The rounds with the results of their tools cut where they would leave no room. */
function stepsThatFit(steps: readonly ReplyStep[], room: number): ReplyStep[] {
	const safe = steps.map((step) => ({
		...step,
		calls: step.calls.map((call) => ({ ...call, result: defused(call.result) })),
	}));
	const results = safe.flatMap(({ calls }) => calls.map(({ result }) => tokensOf(result)));
	const besides = sum(safe.map(tokensOfStep)) - sum(results);
	const bound = fairBound(results, room * RESULTS_SHARE - besides);
	if (bound === Number.POSITIVE_INFINITY) return safe;
	return safe.map((step) => ({
		...step,
		calls: step.calls.map((call) => ({ ...call, result: shortened(call.result, bound) })),
	}));
}

function shortened(text: string, tokens: number): string {
	if (tokensOf(text) <= tokens) return text;
	return firstTokens(text, Math.max(0, tokens - tokensOf(CUT))) + CUT;
}

interface RenderedPassage {
	index: number;
	rendered: string;
}

/** The passages that fit, rendered: best first, whole ones; where not even one does, the beginning of the best. */
function passagesThatFit(passages: readonly Passage[], room: number): RenderedPassage[] {
	const fitting: RenderedPassage[] = [];
	let left = room;
	for (const passage of passages) {
		const rendered = renderPassage(passage);
		const tokens = tokensOfPassage(rendered);
		if (tokens > left) continue;
		fitting.push({ index: passage.index, rendered });
		left -= tokens;
	}
	const [best] = passages;
	if (fitting.length > 0 || !best || room < LEAST_PASSAGE_TOKENS) return fitting;
	return [{ index: best.index, rendered: firstTokens(renderPassage(best), room - SEPARATOR_TOKENS) }];
}

/** Exchanges as messages whose roles alternate, as the templates of some models demand. */
function alternating(exchanges: readonly Exchange[]): PromptMessage[] {
	const messages: PromptMessage[] = [];
	let unanswered = '';
	for (const { question, reply } of exchanges) {
		const text = unanswered === '' ? question : `${unanswered}\n\n${question}`;
		unanswered = reply === null ? text : '';
		if (reply === null) continue;
		messages.push({ role: 'user', text }, { role: 'assistant', parts: [{ type: 'text', text: reply }] });
	}
	return unanswered === '' ? messages : [...messages, { role: 'user', text: unanswered }];
}

function messagesOfStep({ text, calls, memory }: ReplyStep): PromptMessage[] {
	const asked = calls.map(({ id, name, arguments: given }) => {
		return { type: 'tool_call' as const, id, name, input: inputOf(given), signature: null };
	});
	// Some providers refuse a text without anything to see.
	const said = text.trim() === '' ? [] : [{ type: 'text' as const, text }];
	const parts: AssistantPart[] = memory === undefined ? [...said, ...asked] : remembered(storedMemory(memory), asked);
	if (calls.length === 0) return [{ role: 'assistant', parts }];
	const results = calls.map(({ id, result, is_error }) => ({ id, result, isError: is_error }));
	return [
		{ role: 'assistant', parts },
		{ role: 'tool', results },
	];
}

/** Arguments as providers take them back: an object, whatever the model wrote. */
function inputOf(given: unknown): object {
	const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
	return isObject ? given : { not_an_object: given };
}

function tokensOfPassage(rendered: string): number {
	return SEPARATOR_TOKENS + tokensOf(rendered);
}

function tokensOfStep({ text, calls, memory }: ReplyStep): number {
	const ofCalls = calls.map(({ name, arguments: given, result }) => {
		return 2 * MESSAGE_TOKENS + tokensOf(name + JSON.stringify(inputOf(given))) + tokensOf(result);
	});
	const reasoning = memory === undefined ? '' : reasoningIn(storedMemory(memory));
	return MESSAGE_TOKENS + tokensOf(text) + tokensOf(reasoning) + sum(ofCalls);
}

function tokensOfExchange(exchange: Exchange): number {
	const { question, reply } = defusedExchange(exchange);
	return 2 * MESSAGE_TOKENS + tokensOf(question) + tokensOf(reply ?? '');
}

function defusedExchange({ question, reply }: Exchange): Exchange {
	return { question: defused(question), reply: reply === null ? null : defused(reply) };
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
