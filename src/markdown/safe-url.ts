/** A normalised URL that a message may link to; null for other schemes than http, https and mailto. */
export function safeUrl(text: string): string | null {
	try {
		const url = new URL(text.trim());
		return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
	} catch {
		return null;
	}
}
