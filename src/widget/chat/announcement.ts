import type { Strings } from '../languages/strings.ts';
import type { DisplayedMessage } from './transcript.ts';

/** What those who cannot see it must hear: a sentence, or a reply. */
export interface Announcement {
	stringKey?: keyof Strings;
	reply?: DisplayedMessage | undefined;
}
