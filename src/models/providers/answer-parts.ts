import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import type { Inbox } from './inbox.ts';

/** A model as the provider libraries have it (the AI SDK's language model specification, version 3). */
export type LibraryModel = ReturnType<OpenAICompatibleProvider['chatModel']>;
/** What such a model is asked. */
export type CallOptions = Parameters<LibraryModel['doStream']>[0];
export type Prompt = CallOptions['prompt'];
/** What it streams. */
export type StreamPart =
	Awaited<ReturnType<LibraryModel['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

/** An answer as it comes: its text, what the library says of it, and null for its end. */
export type AnswerInbox = Inbox<string | StreamPart | null>;

/**
 * Passes on what the library says, as fast as it is taken. Never rejects: a failure is passed on too.
 * @param untold what is still to be told of a text that the library has found
 */
export async function passOn(
	parts: ReadableStream<StreamPart>,
	inbox: AnswerInbox,
	untold: (text: string) => string = (text) => text,
): Promise<void> {
	try {
		const reader = parts.getReader();
		for (;;) {
			await inbox.taken();
			const { done, value: part } = await reader.read();
			inbox.push(done ? null : part);
			if (done) return;
			const text = part.type === 'text-delta' ? untold(part.delta) : '';
			if (text !== '') inbox.push(text);
		}
	} catch (thrown) {
		inbox.fail(thrown);
	}
}
