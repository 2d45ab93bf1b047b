import type { Strings } from '../languages/strings.ts';
import { nameOf } from './author-name.ts';
import type { DisplayedMessage } from './transcript.ts';

const REVOKE_MS = 60_000;

/** The exports of this file. It is built apart from the chat, which loads it when a visitor downloads the conversation. */
export interface TranscriptModule {
	saveTranscript: typeof saveTranscript;
}

/**
 * Downloads a conversation as a text file.
 * @param plain converts Markdown to text
 */
export function saveTranscript(
	messages: readonly DisplayedMessage[],
	title: string,
	strings: Strings,
	plain: (markdown: string) => string,
): void {
	const texts = messages.map((message) => {
		const date = new Date(message.created_at);
		// A message that is not stored has no time.
		const at = Number.isNaN(date.getTime()) ? '' : ` (${date.toLocaleString()})`;
		const { role, content } = message;
		const text = role === 'user' ? content : plain(content);
		return `${nameOf(message, strings)}${at}:\n${text.trim()}\n`;
	});
	const link = document.createElement('a');
	link.href = URL.createObjectURL(new Blob([texts.join('\n')], { type: 'text/plain;charset=utf-8' }));
	link.download = `${title}.txt`;
	link.click();
	// The browser has started to read the blob by then.
	setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_MS);
}
