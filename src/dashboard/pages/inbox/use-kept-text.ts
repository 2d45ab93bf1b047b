import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** A text that a person writes in a conversation. */
export interface KeptText {
	text: string;
	setText(text: string): void;
	/** The idempotency key of the text: a repeat after a lost connection stores it once. */
	key: RefObject<string>;
	/** Removes a text that was sent. What was typed behind it meanwhile stays. */
	removeSent(sent: string): void;
}

/** A text that stays in this tab of the browser until it is sent, also when the session ends. @param name of the conversation's text */
export function useKeptText(name: string): KeptText {
	const [text, setText] = useState(() => sessionStorage.getItem(name) ?? '');
	const key = useRef<string>(crypto.randomUUID());
	useEffect(() => {
		if (text === '') sessionStorage.removeItem(name);
		else sessionStorage.setItem(name, text);
		key.current = crypto.randomUUID();
	}, [text]);
	const removeSent = (sent: string) =>
		setText((present) => (present.startsWith(sent) ? present.slice(sent.length).trimStart() : present));
	return { text, setText, key, removeSent };
}
