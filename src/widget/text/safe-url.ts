/** A link that a message may have, normalised; null for anything but the web and mail. */
export function safeUrl(text: string): string | null {
	try {
		const url = new URL(text.trim());
		return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
	} catch {
		return null;
	}
}
