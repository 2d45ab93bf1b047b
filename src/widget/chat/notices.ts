import type { Strings } from '../languages/strings.ts';

/** What the visitor should know of: a sentence, and until when it holds (milliseconds since the epoch). */
export interface Notice {
	says: keyof Strings;
	until?: number | undefined;
}

/** Nothing is sent or read while one of these holds. */
const BLOCKING: ReadonlyArray<keyof Strings> = ['signIn', 'forbidden', 'gone', 'closed'];

/** The one sentence that stands above the field, if any. */
export type Notices = ReturnType<typeof createNotices>;

/**
 * @param first what holds from the beginning
 * @param changed is called after each change, with what those who cannot see it must hear
 */
export function createNotices(first: Notice | null, changed: (says?: keyof Strings) => void) {
	let notice = first;
	let timer = 0;
	const is = (...says: Array<keyof Strings>) => notice !== null && says.includes(notice.says);
	const isBlocking = () => is(...BLOCKING);
	const note = (says: keyof Strings, until?: number) => {
		const isNew = !is(says);
		notice = { says, until };
		changed(isNew ? says : undefined);
	};
	/** What of these was said holds no longer. */
	const drop = (...says: Array<keyof Strings>) => {
		if (!is(...says)) return;
		notice = null;
		changed();
	};
	return {
		current: () => notice,
		is,
		isBlocking,
		note,
		drop,
		/** Nothing is told any more of what the conversation was about; what the visitor may do is not changed by that. */
		clear(): void {
			if (notice && !is('limited', 'signIn')) drop(notice.says);
		},
		/** The server answers. */
		connected: () => drop('reconnecting', 'offline'),
		/** It does not; the visitor is told, unless there is something worse to tell. */
		disconnected(): void {
			if (!isBlocking() && !is('limited')) note(navigator.onLine ? 'reconnecting' : 'offline');
		},
		/** Says for how long nothing can be sent; then calls a function. */
		limit(ms: number, over: () => void): void {
			note('limited', Date.now() + ms);
			clearTimeout(timer);
			timer = setTimeout(() => {
				drop('limited');
				over();
			}, ms) as unknown as number;
		},
		/** Nothing that was said holds any more, whatever it was. */
		end(): void {
			clearTimeout(timer);
			if (notice) drop(notice.says);
		},
	};
}
