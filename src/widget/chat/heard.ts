import type { Strings } from '../languages/strings.ts';
import type { ShownMessage } from './transcript.ts';

/** What those who cannot see it must hear: a sentence, or a reply. */
export interface Heard {
	says?: keyof Strings;
	reply?: ShownMessage | undefined;
}
