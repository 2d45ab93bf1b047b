import type { Strings } from '../languages/strings.ts';

/** A sentence for the visitor, and when it expires (milliseconds since the epoch). */
export interface Notice {
	stringKey: keyof Strings;
	until?: number | undefined;
}

/** Nothing is sent or read while one of these is shown. */
const BLOCKING: ReadonlyArray<keyof Strings> = ['signIn', 'forbidden', 'gone', 'closed'];

/** The single notice above the field, if any. */
export type Notices = ReturnType<typeof createNotices>;

/**
 * @param initial the first notice
 * @param onChanged is called after each change, with the sentence to announce to screen readers
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
	/** Removes the notice if it is one of these. */
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
		/** Removes a notice about the conversation. Keeps notices about what the visitor may do. */
		clear(): void {
			if (notice && !is('limited', 'signIn')) dismiss(notice.stringKey);
		},
		/** Removes the notice about a lost connection. */
		connected_: () => dismiss('reconnecting', 'offline'),
		/** Shows that the connection is lost, unless a more important notice is shown. */
		disconnected_(): void {
			if (!isBlocking() && !is('limited')) show(navigator.onLine ? 'reconnecting' : 'offline');
		},
		/** Shows for how long nothing can be sent, then calls `over`. */
		showRateLimit_(ms: number, over: () => void): void {
			show('limited', Date.now() + ms);
			clearTimeout(timer);
			timer = setTimeout(() => {
				dismiss('limited');
				over();
			}, ms) as unknown as number;
		},
		/** Removes any notice. */
		dismissAll_(): void {
			clearTimeout(timer);
			if (notice) dismiss(notice.stringKey);
		},
	};
}
