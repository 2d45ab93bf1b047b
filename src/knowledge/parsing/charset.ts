import chardet from 'chardet';

/** How much is looked at to find out a charset; a charset shows itself early. */
const SAMPLE = 64 * 1024;

/**
 * The text in some bytes, or null where they are no text. What the bytes themselves say goes first (a byte order mark,
 * valid UTF-8, the zeros of UTF-16), because declarations are often wrong; then the declared charsets in the order
 * given; then a guess by letter frequencies. A character cut off at the very end is left out.
 * @param declared labels as in a Content-Type or a meta element
 */
export function decodeText(bytes: Uint8Array, declared: Array<string | null> = []): string | null {
	const text = fromMark(bytes) ?? (bytes.includes(0) ? fromUtf16(bytes) : fromBytes(bytes, declared));
	return text === null || isBinary(text) ? null : text.replace(/\r\n?/g, '\n');
}

/** The charset parameter of a Content-Type. */
export function charsetOf(contentType: string | null): string | null {
	return /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType ?? '')?.[1] ?? null;
}

function decode(bytes: Uint8Array, label: string): string | null {
	try {
		return new TextDecoder(label, { fatal: true }).decode(bytes, { stream: true });
	} catch {
		return null;
	}
}

function fromMark(bytes: Uint8Array): string | null {
	const [a, b, c] = bytes;
	if (a === 0xef && b === 0xbb && c === 0xbf) return new TextDecoder('utf-8').decode(bytes, { stream: true });
	if (a === 0xff && b === 0xfe) return new TextDecoder('utf-16le').decode(bytes, { stream: true });
	if (a === 0xfe && b === 0xff) return new TextDecoder('utf-16be').decode(bytes, { stream: true });
	return null;
}

/** No other charset of text has zero bytes; which of the two it is shows in which reading looks like writing. */
function fromUtf16(bytes: Uint8Array): string | null {
	let best: string | null = null;
	let bestScore = 0.7;
	for (const label of ['utf-16le', 'utf-16be']) {
		const score = plausibility(decode(bytes.subarray(0, SAMPLE), label) ?? '');
		if (score > bestScore) {
			best = label;
			bestScore = score;
		}
	}
	return best === null ? null : decode(bytes, best);
}

const COMMON = /[\n\r\t\x20-\x7e\u3000-\u30ff\uff01-\uff5e]/;
const IMPOSSIBLE = /[\p{Cn}\p{Co}\p{Cs}\p{Cc}]/u;

/** 1 for everyday characters throughout, near 0.5 for any rare letters, below 0 for what nobody writes. */
function plausibility(text: string): number {
	if (text === '') return 0;
	let score = 0;
	let common = 0;
	let length = 0;
	for (const character of text) {
		length++;
		if (COMMON.test(character)) {
			common++;
			score++;
		} else if (IMPOSSIBLE.test(character)) score -= 5;
		else score += 0.75;
	}
	// Wrongly ordered bytes of Latin text are all rare ideographs: without spaces or full stops it is no text.
	return common === 0 ? 0 : score / length;
}

function fromBytes(bytes: Uint8Array, declared: Array<string | null>): string | null {
	const sample = bytes.subarray(0, SAMPLE);
	const shifted = sample.includes(0x1b);
	if (!shifted) {
		const utf8 = decode(bytes, 'utf-8');
		if (utf8 !== null) return utf8;
	}
	for (const label of declared) {
		const text = label === null ? null : decode(bytes, label);
		if (text !== null) return text;
	}
	for (const { name, confidence } of chardet.analyse(sample)) {
		const text = confidence === 0 ? null : decode(bytes, name);
		if (text !== null) return text;
	}
	return decode(bytes, 'utf-8') ?? decode(bytes, 'windows-1252');
}

/** Whether a decoded text is no text after all: compressed or executable data decodes into control characters. */
function isBinary(text: string): boolean {
	const sample = text.slice(0, SAMPLE);
	// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
	const odd = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u0080-\u009f\ufffd]/g)?.length ?? 0;
	return odd > 2 + sample.length / 100;
}
