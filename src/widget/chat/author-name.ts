import type { Strings } from '../languages/strings.ts';
import type { DisplayedMessage } from './transcript.ts';

/** The displayed name of a message's author. */
export function nameOf({ role, author }: DisplayedMessage, strings: Strings): string {
	if (role === 'user') return strings.you;
	return author.name ?? (author.type === 'human' ? strings.person : strings.assistant);
}
