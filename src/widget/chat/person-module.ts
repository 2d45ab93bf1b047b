import type { WidgetPeople } from '../../contract/index.ts';
import type { Language } from '../languages/choose.ts';
import type { Strings } from '../languages/strings.ts';
import type { DisplayedMessage } from './transcript.ts';

/** What the chat shows about people is a function of this. */
export interface PersonState {
	/** The conversation's id. The texts of one conversation never show in another. */
	conversation: string | null;
	/** Null: not known yet. */
	people: WidgetPeople | null;
	/** The last message. */
	last: Pick<DisplayedMessage, 'role' | 'author' | 'status'> | undefined;
}

/** A change of the visitor's request for a person, as in the API. */
export interface PersonRequest {
	withdraw?: boolean;
	email?: string;
}

/** What the chat passes to the bar. The bar's file may have another version than the chat's. */
export interface PersonBarOptions {
	/** Gets the bar's style sheet. */
	root: ShadowRoot;
	strings: Strings;
	language: Language;
	/** Sends a change of the request. @returns whether the server has stored it; if not, the chat shows why */
	request(change: PersonRequest): Promise<boolean>;
	/** Announces a sentence to screen readers. */
	announce(text: string): void;
	/** Asks the chat to update the bar. */
	onChanged(): void;
}

/** The bar above the field: it says who will answer, and the visitor leaves an e-mail address or withdraws the request. */
export interface PersonBar {
	/** @param slot the element into which the bar is rendered */
	update(slot: HTMLElement, state: PersonState): void;
}

/** The exports of the bar's file. */
export interface PersonModule {
	createPersonBar(options: PersonBarOptions): PersonBar;
}
