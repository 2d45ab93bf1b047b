import { parseMarkdown, plainText } from '../../markdown/index.ts';
import type { Strings } from '../languages/strings.ts';
import { nameOf } from './message.tsx';
import type { DisplayedMessage } from './transcript.ts';

const REVOKE_MS = 60_000;

/** Downloads a conversation as a text file. */
export function saveTranscript(messages: readonly DisplayedMessage[], title: string, strings: Strings): void {
	const texts = messages.map((message) => {
		const date = new Date(message.created_at);
		// A message that is not stored has no time.
		const at = Number.isNaN(date.getTime()) ? '' : ` (${date.toLocaleString()})`;
		const { role, content } = message;
		const text = role === 'user' ? content : plainText(parseMarkdown(content));
		return `${nameOf(message, strings)}${at}:\n${text.trim()}\n`;
	});
	const link = document.createElement('a');
	link.href = URL.createObjectURL(new Blob([texts.join('\n')], { type: 'text/plain;charset=utf-8' }));
	link.download = `${title}.txt`;
	link.click();
	// The browser has started to read the blob by then.
	setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_MS);
}
