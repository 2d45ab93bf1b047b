import { AppError, rejectOnAbort } from '../base/index.ts';
import type { Usage } from '../contract/index.ts';
import type { ChatModel, ChatRequest, ModelEvent, ModelToolCall } from '../models/index.ts';
import type { ReplyListener, ReplyProgress, UnreportedCall } from './reply-progress.ts';
import { SurrogatePairJoiner } from './surrogate-pair-joiner.ts';

/** What a model returned in one round. */
export interface ModelOutput {
	text: string;
	calls: ModelToolCall[];
	memory?: unknown;
}

/** Characters of a reply at most. A model that writes more is aborted. */
const MAX_REPLY_CHARS = 200_000;

/** A model's answer. Rejects as soon as the signal aborts, even if the model ignores it; then no event follows. */
export function streamUntilAborted(
	model: ChatModel,
	request: ChatRequest,
	signal: AbortSignal,
	onEvent: (event: ModelEvent) => void,
): Promise<void> {
	const answer = model.stream(request, signal, (event) => {
		if (!signal.aborted) onEvent(event);
	});
	return rejectOnAbort(answer, signal);
}

/**
 * Asks a model for one round, and reports its text as it arrives.
 * @param progress is kept up to date
 * @throws AppError `model_error` where the model wrote too much; the reason of the signal
 */
export async function askForRound(
	model: ChatModel,
	request: ChatRequest,
	signal: AbortSignal,
	progress: ReplyProgress,
	listener: Pick<ReplyListener, 'text'>,
): Promise<ModelOutput> {
	const calls: ModelToolCall[] = [];
	const characters = new SurrogatePairJoiner();
	let text = '';
	let memory: unknown;
	const appendText = (delta: string) => {
		if (delta === '') return;
		// Text after a call starts a paragraph.
		const piece = text === '' && progress.text !== '' ? `\n\n${delta}` : delta;
		if (progress.text.length + piece.length > MAX_REPLY_CHARS) {
			throw new AppError('model_error', 'The model wrote too much.');
		}
		text += delta;
		progress.text += piece;
		listener.text(piece);
	};
	let started = false;
	const call = new BilledCall(model, progress);
	const answer = streamUntilAborted(model, request, signal, (event) => {
		call.take(event);
		if (isBeforeAnswer(event)) return;
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
				break;
			case 'refusal':
				progress.isRefused = true;
		}
	});
	await answer.catch((error: unknown) => {
		if (!signal.aborted) call.failed();
		throw error;
	});
	appendText(characters.end());
	return { text, calls, memory };
}

/** Whether an event says nothing of the answer. Passages do: they are those in its prompt. */
function isBeforeAnswer({ type }: ModelEvent): boolean {
	return type === 'prompt' || type === 'attempt_failed' || type === 'attempt_repeated';
}

/** Counts a call among the unreported ones until its usage is known, and each attempt that the provider may charge for. */
export class BilledCall {
	readonly #progress: ReplyProgress;
	readonly #call: UnreportedCall = { promptTokens: null, answeredCharacters: 0 };
	#hasBegun = false;

	constructor({ isFree = false }: ChatModel, progress: ReplyProgress) {
		this.#progress = progress;
		if (!isFree) progress.unreportedCalls.push(this.#call);
	}

	take(event: ModelEvent): void {
		switch (event.type) {
			// The prompt is composed before the provider is asked.
			case 'prompt':
				this.#call.promptTokens = event.input_tokens;
				return;
			case 'passages':
				return;
			case 'attempt_failed':
				this.#report();
				if (event.isCharged) this.#progress.unreportedCalls.push({ ...this.#call });
				return;
			case 'attempt_repeated':
				this.#progress.unreportedCalls.push(this.#call);
				return;
			case 'delta':
				this.#call.answeredCharacters += event.text.length;
				break;
			case 'unseen_output':
				this.#call.answeredCharacters += event.characters;
				break;
			case 'usage':
				this.#report();
		}
		this.#hasBegun = true;
	}

	/** Nothing was asked, or each attempt has failed and is counted. An answer that broke off is charged. */
	failed(): void {
		if (!this.#hasBegun) this.#report();
	}

	#report(): void {
		const { unreportedCalls } = this.#progress;
		const at = unreportedCalls.indexOf(this.#call);
		if (at >= 0) unreportedCalls.splice(at, 1);
	}
}

export function isEmptyOutput({ text, calls }: ModelOutput): boolean {
	return calls.length === 0 && text.trim() === '';
}

/** The cost of all rounds together. */
export function addUsage(before: Usage | null, { input_tokens, output_tokens }: Usage): Usage {
	const sum = (a: number, b: number) => Math.min(a + b, Number.MAX_SAFE_INTEGER);
	return {
		input_tokens: sum(before?.input_tokens ?? 0, input_tokens),
		output_tokens: sum(before?.output_tokens ?? 0, output_tokens),
	};
}
