import type { MetadataExtractor } from '@ai-sdk/openai-compatible';

/** Our own entry in the metadata of an answer. */
const OURS = 'parley';

/**
 * Notes whether a service gives its thinking as `reasoning_content`. Those that do want it back under this name (DeepSeek
 * refuses the next round without it); of those that call it `reasoning`, some refuse a request that has the other (Groq).
 */
export const thinkingNoted: MetadataExtractor = {
	extractMetadata: async () => undefined,
	createStreamExtractor: () => {
		let takes_reasoning = false;
		return {
			processChunk(chunk) {
				takes_reasoning ||= isReasoningContent(chunk);
			},
			buildMetadata: () => ({ [OURS]: { takes_reasoning } }),
		};
	},
};

function isReasoningContent(chunk: unknown): boolean {
	const { choices } = (chunk ?? {}) as { choices?: { delta?: { reasoning_content?: unknown } | null }[] | null };
	const content = choices?.[0]?.delta?.reasoning_content;
	return typeof content === 'string' && content !== '';
}

/** Whether the metadata of an answer says that its thinking came in the form in which it is taken back. */
export function takesThinkingBack(metadata: ReturnType<Extractor['buildMetadata']>): boolean {
	return metadata?.[OURS]?.takes_reasoning === true;
}

type Extractor = ReturnType<MetadataExtractor['createStreamExtractor']>;
