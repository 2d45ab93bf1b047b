const keyOf = (conversation: string) => `${conversation}:draft`;

/** What the visitor has written and not sent: kept for this tab, through a reload. */
export const draft = {
	get(conversation: string): string {
		try {
			return sessionStorage.getItem(keyOf(conversation)) ?? '';
		} catch {
			return '';
		}
	},
	set(conversation: string, text: string): void {
		try {
			if (text) sessionStorage.setItem(keyOf(conversation), text);
			else sessionStorage.removeItem(keyOf(conversation));
		} catch {}
	},
};
