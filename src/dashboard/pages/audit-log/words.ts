import { strings } from '../../languages/index.ts';
import type { AccessStrings } from '../../languages/strings.ts';

type Verb = keyof AccessStrings['verbs'];
type Kind = keyof AccessStrings['kinds'];

/** What was done, in words, from the first word of the operation: `updateAssistant` is a change. */
export function verbOf(action: string): string {
	const { verbs } = strings().accessPages;
	const [verb = ''] = /^[a-z]+/.exec(action) ?? [];
	return Object.hasOwn(verbs, verb) ? verbs[verb as Verb] : action;
}

/** The kind of a resource, in words. */
export function kindOf(type: string | null): string {
	const { kinds } = strings().accessPages;
	return type !== null && Object.hasOwn(kinds, type) ? kinds[type as Kind] : (type ?? '');
}
