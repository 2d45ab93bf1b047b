/** Marks the history entry that the chat adds, beside the page's own state. */
const HISTORY_STATE_KEY = 'parleyChat';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const hasChatEntry = () => isObject(history.state) && HISTORY_STATE_KEY in history.state;

/**
 * Lets the Back button of a phone close the chat that covers the page. Adds a history entry with the same address and the page's
 * own state. An entry that exists already, also from before a reload, is used again.
 * @param onBack is called when the visitor goes back
 * @returns `end` stops listening; `leave` also removes the entry
 */
export function closeOnBack(onBack: () => void): { end(): void; leave(): void } {
	const onPop = () => {
		if (!hasChatEntry()) onBack();
	};
	try {
		const { state } = history;
		// A state that is not an object cannot hold the mark. Then Back belongs to the page.
		if (!hasChatEntry() && (state === null || isObject(state)))
			history.pushState({ ...state, [HISTORY_STATE_KEY]: true }, '');
	} catch {}
	if (hasChatEntry()) addEventListener('popstate', onPop);
	const end = () => removeEventListener('popstate', onPop);
	return {
		end,
		leave() {
			end();
			// If the page has navigated since, the entry is not the current one.
			if (hasChatEntry()) history.back();
		},
	};
}
