import type { WidgetConfig } from '../../contract/index.ts';
import type { Language } from '../languages/choose.ts';
import type { Strings } from '../languages/strings.ts';
import type { WidgetEvents } from '../public.d.ts';

/** Why there is no configuration: the status of the server's no, or 0 where it was not reached. */
export interface Problem {
	status: number;
}

/** What the button hands the chat when it is first needed. */
export interface ChatOptions {
	/** Where the chat is to be. */
	container: HTMLElement;
	/** Its style sheet goes here. */
	root: ShadowRoot;
	base: string;
	config: WidgetConfig | null;
	problem: Problem | null;
	strings: Strings;
	language: Language;
	title: string | undefined;
	/** Whether the screen is so small that the chat covers the page. */
	smallScreen: MediaQueryList;
	/** Whether a person was to answer, on the page before this one. */
	humanExpected: boolean;
	/** The visitor has seen enough of it. */
	onClose(): void;
	/** The configuration is wanted again. */
	onReload(): void;
	/** Replies that came while the chat was closed. */
	onUnread(count: number): void;
	/** Whether a person is to answer has changed. */
	onHumanExpected(is: boolean): void;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}

/** The chat, as the button knows it. */
export interface Chat {
	show(open: boolean, takeFocus: boolean): void;
	send(text: string): void;
	identify(jwt: string): void;
	destroy(): void;
}

/** What the chat's file exports. */
export interface ChatModule {
	createChat(options: ChatOptions): Chat;
}
