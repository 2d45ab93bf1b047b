import type { Strings } from '../languages/strings.ts';

/** What the visitor should know of: a sentence, and until when it holds (milliseconds since the epoch). */
export interface Notice {
	stringKey: keyof Strings;
	until?: number | undefined;
}

/** Nothing is sent or read while one of these holds. */
const BLOCKING: ReadonlyArray<keyof Strings> = ['signIn', 'forbidden', 'gone', 'closed'];

/** The one sentence that stands above the field, if any. */
export type Notices = ReturnType<typeof createNotices>;

/**
 * @param initial what holds from the beginning
 * @param onChanged is called after each change, with what those who cannot see it must hear
 */
export function createNotices(initial: Notice | null, onChanged: (says?: keyof Strings) => void) {
	let notice = initial;
	let timer = 0;
	const is = (...says: Array<keyof Strings>) => notice !== null && says.includes(notice.stringKey);
	const isBlocking = () => is(...BLOCKING);
	const show = (stringKey: keyof Strings, until?: number) => {
		const isNew = !is(stringKey);
		notice = { stringKey, until };
		onChanged(isNew ? stringKey : undefined);
	};
	/** What of these was said holds no longer. */
	const dismiss = (...says: Array<keyof Strings>) => {
		if (!is(...says)) return;
		notice = null;
		onChanged();
	};
	return {
		current: () => notice,
		is,
		isBlocking_: isBlocking,
		show,
		dismiss,
		/** Nothing is told any more of what the conversation was about; what the visitor may do is not changed by that. */
		clear(): void {
			if (notice && !is('limited', 'signIn')) dismiss(notice.stringKey);
		},
		/** The server answers. */
		connected_: () => dismiss('reconnecting', 'offline'),
		/** It does not; the visitor is told, unless there is something worse to tell. */
		disconnected_(): void {
			if (!isBlocking() && !is('limited')) show(navigator.onLine ? 'reconnecting' : 'offline');
		},
		/** Says for how long nothing can be sent; then calls a function. */
		showRateLimit_(ms: number, over: () => void): void {
			show('limited', Date.now() + ms);
			clearTimeout(timer);
			timer = setTimeout(() => {
				dismiss('limited');
				over();
			}, ms) as unknown as number;
		},
		/** Nothing that was said holds any more, whatever it was. */
		dismissAll_(): void {
			clearTimeout(timer);
			if (notice) dismiss(notice.stringKey);
		},
	};
}
