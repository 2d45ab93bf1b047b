/** What is remembered of a widget from page to page: whether its chat is open, and whether a person is to answer in it. */
export type TabState = 'open' | 'person';

/** Kept for this tab alone; null where nothing is known yet. */
export const tabState = {
	get(deploymentId: string, state: TabState): boolean | null {
		try {
			const kept = sessionStorage.getItem(`parley:${deploymentId}:${state}`);
			return kept === null ? null : kept === '1';
		} catch {
			return null;
		}
	},
	set(deploymentId: string, state: TabState, is: boolean): void {
		try {
			sessionStorage.setItem(`parley:${deploymentId}:${state}`, is ? '1' : '0');
		} catch {}
	},
};
