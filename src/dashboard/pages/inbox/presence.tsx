import { useEffect, useRef } from 'preact/hooks';
import { api, type Resource } from '../../api/client.ts';
import { sessionState } from '../../app/session.ts';
import { fill, strings } from '../../languages/index.ts';

export type PresentPerson = Resource<'PresentPerson'>;

const LOOKING_EVERY_MS = 30_000;
const TYPING_EVERY_MS = 6_000;

/** Conversations that were erased here: there is no one left to tell. */
const erased = new Set<string>();

/** Tells nothing more about a conversation that is being erased. */
export function endPresence(id: string): void {
	erased.add(id);
}

function tell(id: string, state: 'looking' | 'typing' | 'left'): void {
	if (erased.has(id)) return;
	// A person who may only read is not shown to others: the refusal is no error.
	api.POST('/api/v1/conversations/{id}/presence', { params: { path: { id } }, body: { state } }).catch(() => {});
}

/** Shows others that this person looks at a conversation, while it is open. */
export function useLooking(id: string): void {
	useEffect(() => {
		const look = () => {
			if (document.visibilityState === 'visible') tell(id, 'looking');
		};
		look();
		const timer = setInterval(look, LOOKING_EVERY_MS);
		return () => {
			clearInterval(timer);
			tell(id, 'left');
		};
	}, [id]);
}

/** A function to call at each change of the text: shows others that this person types. */
export function useTyping(id: string): (text: string) => void {
	const lastAt = useRef(0);
	return (text) => {
		if (text === '' || Date.now() - lastAt.current < TYPING_EVERY_MS) return;
		lastAt.current = Date.now();
		tell(id, 'typing');
	};
}

/** The other people in a conversation. */
export function OtherPeople({ people }: { people: readonly PresentPerson[] }) {
	const t = strings().inboxTools;
	const state = sessionState.value;
	const ownId = state.status === 'signed-in' ? state.session.user.id : null;
	const namesOf = (wanted: PresentPerson['state']) =>
		people.filter((person) => person.id !== ownId && person.state === wanted).map(({ name }) => name);
	const [typing, looking] = [namesOf('typing'), namesOf('looking')];
	const lines = [
		...(typing.length > 0 ? [fill(t.typing, { names: typing.join(', ') })] : []),
		...(looking.length > 0 ? [fill(t.looking, { names: looking.join(', ') })] : []),
	];
	return (
		<p class="inbox-people soft" role="status">
			{lines.join(' · ')}
		</p>
	);
}
