/** State of a widget that is kept from page to page: whether its chat is open, and whether the visitor waits for a person. */
export type TabState = 'open' | 'person';

/** Stored for this tab; null if nothing is stored. */
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
