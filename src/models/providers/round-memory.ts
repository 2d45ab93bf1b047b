import type { Prompt, StreamPart } from './answer-parts.ts';
import { takesThinkingBack } from './thinking-noted.ts';

type Metadata = NonNullable<Extract<StreamPart, { type: 'tool-call' }>['providerMetadata']>;
type ReplyPart = Exclude<Extract<Prompt[number], { role: 'assistant' }>['content'], string>[number];
type CallPart = Extract<ReplyPart, { type: 'tool-call' }>;

/**
 * A round of a reply as its provider had it, in order, with what it wants back when it is asked for the next one: services
 * refuse a round with calls whose signed thinking, or whose calls' signatures, are not there any more.
 */
export type RoundMemory = readonly RememberedPart[];
type RememberedPart =
	| { type: 'reasoning'; text: string; metadata: Metadata | null }
	| { type: 'text'; text: string }
	| { type: 'call'; metadata: Metadata | null };

/** Characters of thinking that are kept: a model that thinks for longer is not reminded of it. */
const MAX_REASONING_CHARS = 200_000;

/** Takes down a round as it comes in. */
export class RoundRecorder {
	readonly #parts: RememberedPart[] = [];
	#reasoningChars = 0;

	add(part: StreamPart): void {
		switch (part.type) {
			case 'reasoning-start':
				this.#parts.push({ type: 'reasoning', text: '', metadata: part.providerMetadata ?? null });
				break;
			case 'reasoning-delta':
			case 'reasoning-end': {
				const last = this.#parts.at(-1);
				if (last?.type !== 'reasoning') break;
				if (part.providerMetadata) last.metadata = { ...last.metadata, ...part.providerMetadata };
				if (part.type === 'reasoning-end') break;
				this.#reasoningChars += part.delta.length;
				if (this.#reasoningChars <= MAX_REASONING_CHARS) last.text += part.delta;
				break;
			}
			case 'text-delta': {
				const last = this.#parts.at(-1);
				if (last?.type === 'text') last.text += part.delta;
				else this.#parts.push({ type: 'text', text: part.delta });
				break;
			}
			case 'tool-call':
				this.#parts.push({ type: 'call', metadata: part.providerMetadata ?? null });
		}
	}

	/** What is to be remembered; null where the text and the calls alone say it all. */
	memory({ providerMetadata }: Extract<StreamPart, { type: 'finish' }>): RoundMemory | null {
		if (this.#reasoningChars > MAX_REASONING_CHARS) return null;
		const takesPlain = takesThinkingBack(providerMetadata);
		const parts = this.#parts.filter((part) => part.type !== 'reasoning' || part.metadata !== null || takesPlain);
		const isWanted = parts.some(
			(part) => part.type === 'reasoning' || (part.type === 'call' && part.metadata !== null),
		);
		return isWanted ? parts : null;
	}
}

/** A remembered round as part of a prompt, with its calls in the places where they were. */
export function remembered(memory: RoundMemory, calls: readonly CallPart[]): ReplyPart[] {
	const left = [...calls];
	const parts: ReplyPart[] = [];
	for (const part of memory) {
		if (part.type === 'reasoning') {
			parts.push({ type: 'reasoning', text: part.text, ...optionsOf(part.metadata) });
		} else if (part.type === 'call') {
			const call = left.shift();
			if (call) parts.push({ ...call, ...optionsOf(part.metadata) });
		} else if (part.text.trim() !== '') {
			parts.push({ type: 'text', text: part.text });
		}
	}
	return [...parts, ...left];
}

/** What takes room of a memory besides the text and the calls. */
export function thinkingIn(memory: RoundMemory): string {
	return memory.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
}

/** Metadata as the library takes it back. Gemini's signatures it gives under the provider's name and takes under Google's. */
function optionsOf(metadata: Metadata | null): Pick<ReplyPart, 'providerOptions'> {
	if (metadata === null) return {};
	const signature = Object.values(metadata).find(({ thoughtSignature }) => thoughtSignature !== undefined);
	return { providerOptions: signature ? { ...metadata, google: signature } : metadata };
}
