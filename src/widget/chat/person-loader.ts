import type { WidgetPeople } from '../../contract/index.ts';
import type { ChatOptions } from './chat-module.ts';
import type { PersonBar, PersonBarOptions, PersonState } from './person-module.ts';

/** Whether the visitor waits for a person, or talks to one. */
export const concernsPerson = (people: WidgetPeople | null | undefined): boolean =>
	Boolean(people?.requested_person_at || people?.person);

/**
 * Returns a function that updates the bar. Its file is loaded at the first state that needs it: most visitors never do. After a
 * failure the next state loads it again, and meanwhile the chat works without the bar.
 */
export function createPersonLoader(options: PersonBarOptions & Pick<ChatOptions, 'loadPart'>) {
	let bar: PersonBar | undefined;
	let triedWith: WidgetPeople | null = null;
	return (slot: HTMLElement, state: PersonState) => {
		const { people } = state;
		bar?.update(slot, state);
		if (people === triedWith || !concernsPerson(people)) return;
		triedWith = people;
		options.loadPart?.('person').then(
			({ createPersonBar }) => {
				bar ??= createPersonBar(options);
				options.onChanged();
			},
			() => {},
		);
	};
}
