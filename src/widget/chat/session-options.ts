import type { WidgetConfig } from '../../contract/index.ts';
import type { ChatFetch } from '../page/config.ts';
import type { WidgetEvents } from '../public.d.ts';
import type { Announcement } from './announcement.ts';

export interface SessionOptions {
	base: string;
	config: WidgetConfig;
	/** Sends requests in place of the browser's `fetch`. */
	fetch?: ChatFetch | undefined;
	/** Whether the visitor waited for a person on the previous page. */
	humanExpected: boolean;
	/** The visitor begins or stops to wait for a person. */
	onHumanExpected(is: boolean): void;
	/** Something visible has changed. */
	onChanged(): void;
	/** Announces something to screen readers. */
	announce(what: Announcement): void;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}
