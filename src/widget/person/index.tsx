import type { PersonBar, PersonBarOptions, PersonState } from '../chat/person-module.ts';
import { render } from '../chat/virtual-dom.ts';
import { styleSheet } from '../page/style-sheets.ts';
import { joinedLine, requestBar } from './bar.tsx';
import css from './person.css';
import { TEXTS } from './texts.ts';

const sheet = styleSheet(css);
/** As the API checks it (EMAIL_PATTERN of the contract). The mail server validates the rest. */
const EMAIL = /^[^\s\p{Cc}@]+@[^\s\p{Cc}@]+$/u;

/** What belongs to one conversation. */
interface Draft {
	conversation: string | null;
	/** The address that this page has stored. */
	email: string;
	isEditing: boolean;
	isInvalid: boolean;
}

/** Creates the bar. It renders when the chat does, so that the chat keeps the focus and the end of the log in sight. */
export function createPersonBar({
	root,
	strings,
	language,
	request,
	announce,
	onChanged,
}: PersonBarOptions): PersonBar {
	// A previous chat may have added it.
	if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
	const texts = TEXTS[language];
	let draft: Draft = { conversation: null, email: '', isEditing: false, isInvalid: false };
	/** A change is being sent. Further ones wait for the visitor. */
	let isSending = false;
	let takesFocus = false;
	/** The line that was shown last: a change of it is announced. Null: nothing was shown yet. */
	let shownLine: string | null = null;

	const send = async (change: Parameters<typeof request>[0], onStored: () => void) => {
		if (isSending) return;
		isSending = true;
		const { conversation } = draft;
		const isStored = await request(change);
		isSending = false;
		// Another conversation may be shown meanwhile.
		if (isStored && conversation === draft.conversation) onStored();
		onChanged();
	};
	const show = (changes: Partial<Draft>) => {
		draft = { ...draft, ...changes };
		onChanged();
	};
	const actions = {
		onEmail(text: string) {
			const email = text.trim();
			if (!EMAIL.test(email)) {
				takesFocus = true;
				show({ isInvalid: true });
				announce(texts.invalid);
				return;
			}
			void send({ email }, () => {
				draft = { ...draft, email, isEditing: false, isInvalid: false };
				announce(savedText(email));
			});
		},
		onChange() {
			takesFocus = true;
			show({ isEditing: true });
		},
		onWithdraw: () => void send({ withdraw: true }, () => announce(texts.withdrawn)),
	};
	const savedText = (email: string) => (email ? texts.saved.replace('{name}', () => email) : texts.savedBefore);

	/** Announces what has changed. What a visitor who has just opened the page waits for is announced if the chat is open. */
	const announceLine = (line: string, isOpen: boolean) => {
		if (line && line !== shownLine && (shownLine !== null || isOpen)) announce(line);
		shownLine = line;
	};

	return {
		update(slot, state) {
			const { conversation, people } = state;
			const isWaiting = Boolean(people?.requested_person_at);
			if (conversation !== draft.conversation || !isWaiting)
				draft = { conversation, email: '', isEditing: false, isInvalid: false };
			const typist = people?.person?.typing ? (people.person.name ?? strings.person) : null;
			const line = isWaiting ? (people?.people_available ? texts.here : texts.away) : lineOf(state);
			announceLine(line, slot.closest('[hidden]') === null);
			const status = typist === null ? line : texts.typing.replace('{name}', () => typist);
			render(slot, [
				isWaiting
					? requestBar({
							...actions,
							texts,
							title: strings.talk,
							status,
							isAvailable: Boolean(people?.people_available),
							saved: people?.has_email && !draft.isEditing ? savedText(draft.email) : null,
							isInvalid: draft.isInvalid,
						})
					: status && joinedLine(status, typist !== null),
			]);
			if (takesFocus) slot.querySelector('input')?.focus();
			takesFocus = false;
		},
	};

	/** While a person has the conversation: what the visitor may expect until that person writes. */
	function lineOf({ people, last }: PersonState): string {
		if (!people?.person || last?.author.type === 'human') return '';
		if (last?.role !== 'user') return texts.joined;
		return last.status === 'completed' ? strings.awaiting : '';
	}
}
