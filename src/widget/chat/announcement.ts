import type { Strings } from '../languages/strings.ts';
import type { DisplayedMessage } from './transcript.ts';

/** A sentence or a reply to announce to screen readers. */
export interface Announcement {
	stringKey?: keyof Strings;
	reply?: DisplayedMessage | undefined;
}
