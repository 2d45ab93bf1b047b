const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether a JSON text nests deeper than `maxDepth` levels. It scans the text, because a recursive reader of a value of such
 * depth would overflow the stack. Brackets within strings do not count.
 */
export function exceedsJsonDepth(text: string, maxDepth: number): boolean {
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === QUOTE) at = endOfString(text, at);
		// `[` and `{`, whose codes differ in one bit, as those of `]` and `}` do.
		else if ((code | 0x20) === 0x7b) depth++;
		else if ((code | 0x20) === 0x7d) depth--;
		if (depth > maxDepth) return true;
	}
	return false;
}

/** The position of the quote that ends the string starting at `start`: the first with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
	for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
		let backslashes = 0;
		while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
		if (backslashes % 2 === 0) return at;
	}
	return text.length;
}
