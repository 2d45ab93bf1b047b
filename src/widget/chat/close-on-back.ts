/** In the state of the history's entry that the chat adds, beside what the page keeps there. */
const HISTORY_STATE_KEY = 'parleyChat';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const hasChatEntry = () => isObject(history.state) && HISTORY_STATE_KEY in history.state;

/**
 * Lets the Back of a phone close the chat that covers the page: an entry is added to the history, with the same address and
 * the page's own state. An entry that is there already, also of the page before a reload, serves again.
 * @param onBack is called when the visitor goes back
 * @returns ends it; after `leave` the entry is gone too
 */
export function closeOnBack(onBack: () => void): { end(): void; leave(): void } {
	const onPop = () => {
		if (!hasChatEntry()) onBack();
	};
	try {
		const { state } = history;
		// A state that is no object cannot be kept beside ours: Back stays the page's.
		if (!hasChatEntry() && (state === null || isObject(state)))
			history.pushState({ ...state, [HISTORY_STATE_KEY]: true }, '');
	} catch {}
	if (hasChatEntry()) addEventListener('popstate', onPop);
	const end = () => removeEventListener('popstate', onPop);
	return {
		end,
		leave() {
			end();
			// Where the page has gone on meanwhile the entry is not the last one any more.
			if (hasChatEntry()) history.back();
		},
	};
}
