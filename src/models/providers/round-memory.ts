import type { AnswerEvent, AnswerFinish } from './answer-event.ts';
import type { AssistantPart } from './prompt-message.ts';

/**
 * A round of a reply in the order in which its service sent it, with everything that the service needs back in the next
 * round. Services refuse a round with calls if its signed reasoning or the signatures of its calls are missing. Plain data
 * that is stored with the reply.
 */
export type RoundMemory = readonly RememberedPart[];
export type RememberedPart =
	| { type: 'reasoning'; text: string; signature: string | null }
	| { type: 'redacted_reasoning'; data: string }
	| { type: 'text'; text: string }
	| { type: 'call'; signature: string | null };

type CallPart = Extract<AssistantPart, { type: 'tool_call' }>;

/** Characters of reasoning that are stored. If a model writes more, none of it is sent back. */
const MAX_REASONING_CHARS = 200_000;

/** Records a round while it arrives. */
export class RoundRecorder {
	readonly #parts: RememberedPart[] = [];
	#reasoningChars = 0;

	add(event: AnswerEvent): void {
		const last = this.#parts.at(-1);
		switch (event.type) {
			case 'reasoning_start': {
				const { redacted } = event;
				this.#parts.push(
					redacted === undefined
						? { type: 'reasoning', text: '', signature: null }
						: { type: 'redacted_reasoning', data: redacted },
				);
				break;
			}
			case 'reasoning_delta':
				if (last?.type !== 'reasoning') break;
				this.#reasoningChars += event.text.length;
				if (this.#reasoningChars <= MAX_REASONING_CHARS) last.text += event.text;
				break;
			case 'reasoning_signature':
				if (last?.type === 'reasoning') last.signature = event.signature;
				break;
			case 'text_delta':
				if (last?.type === 'text') last.text += event.text;
				else this.#parts.push({ type: 'text', text: event.text });
				break;
			case 'tool_call':
				this.#parts.push({ type: 'call', signature: event.signature ?? null });
		}
	}

	/** The memory to store; null if the text and the calls alone are complete. */
	memory({ takesReasoningBack }: AnswerFinish): RoundMemory | null {
		if (this.#reasoningChars > MAX_REASONING_CHARS) return null;
		const parts = this.#parts.filter(
			(part) => part.type !== 'reasoning' || part.signature !== null || takesReasoningBack,
		);
		const isWanted = parts.some((part) => part.type !== 'text' && (part.type !== 'call' || part.signature !== null));
		return isWanted ? parts : null;
	}
}

/** A stored round as parts of a prompt, with its calls at their positions. */
export function remembered(memory: RoundMemory, calls: readonly CallPart[]): AssistantPart[] {
	const left = [...calls];
	const parts: AssistantPart[] = [];
	for (const part of memory) {
		if (part.type === 'call') {
			const call = left.shift();
			if (call) parts.push({ ...call, signature: part.signature });
		} else if (part.type !== 'text' || part.text.trim() !== '') {
			parts.push(part);
		}
	}
	return [...parts, ...left];
}

/** The texts of a memory that take tokens besides the text and the calls. */
export function reasoningIn(memory: RoundMemory): string {
	return memory.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
}
