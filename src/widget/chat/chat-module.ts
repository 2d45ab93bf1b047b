import type { WidgetConfig } from '../../contract/index.ts';
import type { Language } from '../languages/choose.ts';
import type { Strings } from '../languages/strings.ts';
import type { ChatFetch } from '../page/config.ts';
import type { WidgetEvents } from '../public.d.ts';
import type { PersonModule } from './person-module.ts';
import type { TranscriptModule } from './save-transcript.ts';

/** Why there is no configuration: the HTTP status of the refusal, or 0 if the server was not reached. */
export interface Problem {
	status: number;
}

/** The parts that are loaded on demand, each from a file of its own. */
export interface ChatParts {
	/** The bar above the field, for visitors who ask for a person. */
	person: PersonModule;
	/** Saves the conversation as a file. */
	transcript: TranscriptModule;
}

export type LoadPart = <N extends keyof ChatParts>(name: N) => Promise<ChatParts[N]>;

/** What the button passes to the chat. The chat's file may have another version than the button's. */
export interface ChatOptions {
	/** The chat is rendered into this element. */
	container: HTMLElement;
	/** Gets the chat's style sheet. */
	root: ShadowRoot;
	base: string;
	config: WidgetConfig | null;
	problem: Problem | null;
	strings: Strings;
	language: Language;
	title: string | undefined;
	/** Matches screens on which the chat covers the page. */
	smallScreen: MediaQueryList;
	/** Whether the visitor waited for a person on the previous page. */
	humanExpected: boolean;
	/** Loads a part of the chat that few visitors need. A button of an earlier version cannot. */
	loadPart?: LoadPart | undefined;
	/** Sends requests in place of the browser's `fetch`. */
	fetch?: ChatFetch | undefined;
	/** The visitor closes the chat. */
	onClose(): void;
	/** The visitor asks to load the configuration again. */
	onReload(): void;
	/** The number of replies that came while the chat was closed has changed. */
	onUnread(count: number): void;
	/** The visitor begins or stops to wait for a person. */
	onHumanExpected(is: boolean): void;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}

/** The chat, as the button controls it. */
export interface Chat {
	show(open: boolean, takeFocus: boolean): void;
	send(text: string): void;
	identify(jwt: string): void;
	/** Shows another appearance. Only the dashboard's preview changes it while the chat exists. */
	configure(config: WidgetConfig): void;
	destroy(): void;
}

/** The exports of the chat's file. */
export interface ChatModule {
	createChat(options: ChatOptions): Chat;
}
