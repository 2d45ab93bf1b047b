/**
 * Parses an absolute URL; null where the text is none. Used in place of `URL.canParse`, which is wrong in Node 20 and 22 once V8
 * has optimized its caller: it then refuses URLs with letters of Latin-1, such as `https://bücher.example/`.
 */
export function parseUrl(text: string): URL | null {
	try {
		return new URL(text);
	} catch {
		return null;
	}
}
