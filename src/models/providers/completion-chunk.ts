import type { StreamPart } from './answer-parts.ts';

/**
 * A piece of a streamed answer in the chat-completions protocol (`chat.completion.chunk`), as far as it is looked at. What
 * services send is whatever they like: nothing is taken for granted.
 */
export interface Chunk {
	id?: unknown;
	created?: unknown;
	model?: unknown;
	choices?: unknown;
	usage?: unknown;
	error?: unknown;
}

type Finish = Extract<StreamPart, { type: 'finish' }>;

/** A piece; undefined for what is none. */
export function chunkOf(data: string): Chunk | undefined {
	try {
		return record(JSON.parse(data));
	} catch {
		return undefined;
	}
}

/** The text of a piece that holds nothing else; undefined for any other piece. */
export function plainText(chunk: Chunk): string | undefined {
	if (chunk.usage != null || !isWell(chunk)) return undefined;
	const choice = onlyChoice(chunk);
	const delta = choice && record(choice.delta);
	if (!delta || choice.finish_reason != null) return undefined;
	for (const name in delta) if (name !== 'content' && name !== 'role' && delta[name] !== null) return undefined;
	const { content, role } = delta;
	if (typeof content !== 'string' || content === '') return undefined;
	return role === undefined || role === 'assistant' ? content : undefined;
}

/** A piece with the name, time and model of another and nothing but this text. */
export function textChunk({ id, created, model }: Chunk, text: string): string {
	return JSON.stringify({ id, created, model, choices: [{ index: 0, delta: { role: 'assistant', content: text } }] });
}

/** Whether a piece holds thinking and nothing else. */
export function isThinking(chunk: Chunk): boolean {
	if (chunk.usage != null || !isWell(chunk)) return false;
	const choice = onlyChoice(chunk);
	const { reasoning_content, reasoning, ...others } = record(choice?.delta) ?? {};
	if (![reasoning_content, reasoning].every((text) => text == null || typeof text === 'string')) return false;
	return choice !== undefined && choice.finish_reason == null && isNothing(others);
}

/** What a piece says of how an answer ends, where it says nothing else; undefined where it does. */
export function endOf(chunk: Chunk): { isFinish: boolean; usage: Finish['usage'] | null } | undefined {
	if (!isWell(chunk) || !Array.isArray(chunk.choices) || chunk.choices.length > 1) return undefined;
	const usage = chunk.usage == null ? null : usageOf(chunk.usage);
	if (usage === undefined) return undefined;
	if (chunk.choices.length === 0) return { isFinish: false, usage };
	const choice = onlyChoice(chunk);
	if (!choice || !isNothing(choice.delta)) return undefined;
	const { finish_reason } = choice;
	if (finish_reason != null && finish_reason !== 'stop') return undefined;
	return { isFinish: finish_reason === 'stop', usage };
}

/** What an answer has cost; undefined for what does not say it in numbers. */
function usageOf(usage: unknown): Finish['usage'] | undefined {
	const { prompt_tokens: input = 0, completion_tokens: output = 0 } = record(usage) ?? { prompt_tokens: null };
	return isCount(input) && isCount(output) ? costOf(input, output) : undefined;
}

/** The numbers of an answer's cost as the library has them. */
export function costOf(input: number | undefined, output: number | undefined): Finish['usage'] {
	return {
		inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
		outputTokens: { total: output, text: undefined, reasoning: undefined },
	};
}

function onlyChoice({ choices }: Chunk): Record<string, unknown> | undefined {
	return Array.isArray(choices) && choices.length === 1 ? record(choices[0]) : undefined;
}

/** Whether what every piece has is as the protocol says. */
function isWell(chunk: Chunk): boolean {
	const { id, created, model } = chunk;
	const isText = (value: unknown) => value == null || typeof value === 'string';
	return isText(id) && isText(model) && (created == null || typeof created === 'number') && !('error' in chunk);
}

function isCount(value: unknown): value is number {
	return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isNothing(delta: unknown): boolean {
	if (delta == null) return true;
	const said = record(delta);
	if (!said) return false;
	for (const name in said) {
		const value = said[name];
		if (value !== null && value !== '' && !(name === 'role' && value === 'assistant')) return false;
	}
	return true;
}

function record(value: unknown): Record<string, unknown> | undefined {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}
