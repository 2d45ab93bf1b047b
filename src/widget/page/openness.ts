/** Whether the chat was open on the page before this one, in this tab; null where nobody opened or closed it yet. */
export const openness = {
	get(deploymentId: string): boolean | null {
		try {
			const kept = sessionStorage.getItem(`parley:${deploymentId}:open`);
			return kept === null ? null : kept === '1';
		} catch {
			return null;
		}
	},
	set(deploymentId: string, open: boolean): void {
		try {
			sessionStorage.setItem(`parley:${deploymentId}:open`, open ? '1' : '0');
		} catch {}
	},
};
