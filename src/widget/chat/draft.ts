const keyOf = (conversation: string) => `${conversation}:draft`;

/** The text that the visitor has typed and not sent. It is kept for this tab and survives a reload. */
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
