import { strings } from '../../languages/index.ts';
import type { AccessStrings } from '../../languages/strings.ts';

type Verb = keyof AccessStrings['verbs'];
type Kind = keyof AccessStrings['kinds'];

/** What was done, in words: those of the whole action, or of its first word. `updateAssistant` is a change. */
export function verbOf(action: string): string {
	const { verbs } = strings().accessPages;
	const [firstWord = ''] = /^[a-z]+/.exec(action) ?? [];
	const known = [action, firstWord].find((verb) => Object.hasOwn(verbs, verb));
	return known === undefined ? action : verbs[known as Verb];
}

/** The kind of a resource, in words. */
export function kindOf(type: string | null): string {
	const { kinds } = strings().accessPages;
	return type !== null && Object.hasOwn(kinds, type) ? kinds[type as Kind] : (type ?? '');
}
