const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const LOWER_D = 0x64;
/** Makes a letter lower-case and leaves a digit unchanged. */
const LOWER_CASE_BIT = 0x20;
/** `\ud83d` */
const ESCAPE_LENGTH = 6;

/**
 * Whether a string in a JSON text contains half of a surrogate pair. Half a pair is not a character and would not be the same
 * after it is stored and read. The text is scanned once, because visiting all values costs many times as much as parsing.
 * @param json valid JSON, decoded from UTF-8, so unescaped characters are whole
 */
export function hasLoneSurrogate(json: string): boolean {
	for (let at = json.indexOf('\\'); at >= 0; at = json.indexOf('\\', at)) {
		switch (surrogateAt(json, at)) {
			case 'low':
				return true;
			case 'high':
				if (surrogateAt(json, at + ESCAPE_LENGTH) !== 'low') return true;
				at += 2 * ESCAPE_LENGTH;
				break;
			default:
				// Skips the backslash and the escaped character, which may be a backslash.
				at += 2;
		}
	}
	return false;
}

/** The half of a pair that is escaped at a position: high from d800, low from dc00; null for none. */
function surrogateAt(json: string, at: number): 'high' | 'low' | null {
	if (json.charCodeAt(at) !== BACKSLASH || json.charCodeAt(at + 1) !== LOWER_U) return null;
	if ((json.charCodeAt(at + 2) | LOWER_CASE_BIT) !== LOWER_D) return null;
	const digit = String.fromCharCode(json.charCodeAt(at + 3) | LOWER_CASE_BIT);
	if (digit < '8') return null;
	return digit < 'c' ? 'high' : 'low';
}
