import chardet from 'chardet';
import { betterCharset } from './charset-guess.ts';
import { decodeLegacy } from './legacy-charsets.ts';

/** The sample from which a charset is detected: the beginning of the bytes. */
const SAMPLE_BYTES = 64 * 1024;

/** Begins the Korean characters of ISO-2022-KR. */
const SHIFT_OUT = 0x0e;

/** If at least this share of the even or odd bytes is zero, they are the high bytes of Latin text in UTF-16. */
const MIN_UTF16_ZEROS = 0.2;
/** With a larger share of zero bytes, bytes that are not UTF-16 are not text. */
const MAX_STRAY_ZEROS = 0.1;
/** The smallest difference between even and odd bytes that shows UTF-16. Real text in UTF-16 has 0.6 to 1, other charsets about 0.1. */
const MIN_DISTANCE = 0.45;

/**
 * Decodes bytes to text, or returns null if they are not text. The bytes themselves decide first (a byte order mark, the zeros
 * of UTF-16, valid UTF-8), because declarations are often wrong; then the declared charsets in the given order; then a guess
 * by letter frequencies. A character that is cut off at the end is left out, and so are stray zero bytes.
 * @param declared labels from a Content-Type or a meta element
 */
export function decodeText(bytes: Uint8Array, declared: Array<string | null> = []): string | null {
	const decoded =
		decodeByMark(bytes) ?? (bytes.includes(0) ? decodeByZeros(bytes, declared) : decodeByGuess(bytes, declared));
	const text = decoded?.includes('\0') ? decoded.replaceAll('\0', '') : decoded;
	return text === null || isBinary(text) ? null : text.replace(/\r\n?/g, '\n');
}

/** The charset parameter of a Content-Type. */
export function charsetOfContentType(contentType: string | null): string | null {
	return /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType ?? '')?.[1] ?? null;
}

function decode(bytes: Uint8Array, label: string): string | null {
	try {
		const decoder = new TextDecoder(label, { fatal: true });
		const text = decoder.decode(bytes, { stream: true });
		// Vietnamese letters and their tones are separate characters in it.
		return decoder.encoding === 'windows-1258' ? text.normalize('NFC') : text;
	} catch {
		return decodeLegacy(bytes, label);
	}
}

function decodeByMark(bytes: Uint8Array): string | null {
	const [a, b, c, d] = bytes;
	if (a === 0xff && b === 0xfe && c === 0 && d === 0) return decode(bytes, 'utf-32le');
	if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return decode(bytes, 'utf-32be');
	if (a === 0xef && b === 0xbb && c === 0xbf) return new TextDecoder('utf-8').decode(bytes, { stream: true });
	if (a === 0xff && b === 0xfe) return new TextDecoder('utf-16le').decode(bytes, { stream: true });
	if (a === 0xfe && b === 0xff) return new TextDecoder('utf-16be').decode(bytes, { stream: true });
	return null;
}

/**
 * In UTF-16, half of the bytes of Latin text are zero, and few bytes of other scripts. In every other charset a zero byte is
 * damage. So one zero proves nothing: valid UTF-8 precedes a guess, and a guess needs even and odd bytes that differ.
 */
function decodeByZeros(bytes: Uint8Array, declared: Array<string | null>): string | null {
	const sample = bytes.subarray(0, SAMPLE_BYTES);
	const utf32 = utf32LabelOf(sample);
	if (utf32 !== null) return decode(bytes, utf32);
	const even = histogramOf(sample, 0);
	const odd = histogramOf(sample, 1);
	const [more, less] = even.zeros > odd.zeros ? [even, odd] : [odd, even];
	const isLatin = more.zeros >= MIN_UTF16_ZEROS * more.count && less.zeros <= MAX_STRAY_ZEROS * less.count;
	if (isLatin) return decode(bytes, more === even ? 'utf-16be' : 'utf-16le');
	const rest = bytes.filter((byte) => byte !== 0);
	const isStray = even.zeros + odd.zeros <= MAX_STRAY_ZEROS * sample.length;
	const utf8 = isStray ? decode(rest, 'utf-8') : null;
	if (utf8 !== null && !isBinary(utf8)) return utf8;
	const utf16 = distance(even, odd) >= MIN_DISTANCE ? decodeUtf16(bytes) : null;
	return utf16 ?? (isStray ? decodeByGuess(rest, declared) : null);
}

/** In UTF-32 the highest byte of four is always zero, the second nearly always, and one of the other two is not. */
function utf32LabelOf(sample: Uint8Array): 'utf-32le' | 'utf-32be' | null {
	const zeros = [0, 0, 0, 0];
	for (let at = 0; at < sample.length - (sample.length % 4); at++)
		if (sample[at] === 0) zeros[at % 4] = (zeros[at % 4] ?? 0) + 1;
	const count = Math.floor(sample.length / 4);
	const [first = 0, second = 0, third = 0, fourth = 0] = zeros;
	if (count < 2) return null;
	if (fourth === count && third > 0.9 * count && first < 0.1 * count) return 'utf-32le';
	return first === count && second > 0.9 * count && fourth < 0.1 * count ? 'utf-32be' : null;
}

/** A histogram of every second byte, in ranges of 32 values. */
interface Histogram {
	count: number;
	zeros: number;
	ranges: number[];
}

function histogramOf(bytes: Uint8Array, from: 0 | 1): Histogram {
	const ranges = new Array<number>(8).fill(0);
	let count = 0;
	let zeros = 0;
	for (let at = from; at < bytes.length; at += 2) {
		const byte = bytes[at] as number;
		const range = byte >> 5;
		ranges[range] = (ranges[range] ?? 0) + 1;
		if (byte === 0) zeros++;
		count++;
	}
	return { count, zeros, ranges };
}

/** The total variation distance of two histograms: 0 if they are equal, 1 if they have nothing in common. */
function distance(a: Histogram, b: Histogram): number {
	const difference = (at: number) =>
		Math.abs((a.ranges[at] ?? 0) / Math.max(1, a.count) - (b.ranges[at] ?? 0) / Math.max(1, b.count));
	return a.ranges.reduce((sum, _, at) => sum + difference(at), 0) / 2;
}

/** Decodes UTF-16 without a byte order mark, in the byte order whose result looks more like text. */
function decodeUtf16(bytes: Uint8Array): string | null {
	let best: string | null = null;
	let bestScore = 0.7;
	for (const label of ['utf-16le', 'utf-16be']) {
		const score = plausibility(decode(bytes.subarray(0, SAMPLE_BYTES), label) ?? '');
		if (score > bestScore) {
			best = label;
			bestScore = score;
		}
	}
	return best === null ? null : decode(bytes, best);
}

const COMMON_CHARACTER = /[\n\r\t\x20-\x7e\u3000-\u30ff\uff01-\uff5e]/;
const IMPOSSIBLE_CHARACTER = /[\p{Cn}\p{Co}\p{Cs}\p{Cc}]/u;

/** 1 for everyday characters throughout, near 0.5 for any rare letters, below 0 for combinations that no language has. */
function plausibility(text: string): number {
	if (text === '') return 0;
	let score = 0;
	let common = 0;
	let length = 0;
	for (const character of text) {
		length++;
		if (COMMON_CHARACTER.test(character)) {
			common++;
			score++;
		} else if (IMPOSSIBLE_CHARACTER.test(character)) score -= 5;
		else score += 0.75;
	}
	// Latin text in the wrong byte order consists of rare ideographs, without spaces or full stops.
	return common === 0 ? 0 : score / length;
}

function decodeByGuess(bytes: Uint8Array, declared: Array<string | null>): string | null {
	const sample = bytes.subarray(0, SAMPLE_BYTES);
	const hasEscapes = sample.includes(0x1b);
	if (!hasEscapes) {
		const utf8 = decode(bytes, 'utf-8');
		if (utf8 !== null) return utf8;
	}
	for (const label of declared) {
		const text = label === null ? null : decode(bytes, label);
		if (text !== null) return text;
	}
	if (hasEscapes && sample.includes(SHIFT_OUT)) {
		const korean = decode(bytes, 'iso-2022-kr');
		if (korean !== null) return korean;
	}
	const guess = chardet.analyse(sample).find(({ name, confidence }) => confidence > 0 && decode(bytes, name) !== null);
	const better = betterCharset(sample, guess === undefined ? null : decode(sample, guess.name), decode);
	const text = better === null ? null : decode(bytes, better);
	return text ?? (guess && decode(bytes, guess.name)) ?? decode(bytes, 'utf-8') ?? decode(bytes, 'windows-1252');
}

/**
 * Whether a decoded text is really data: compressed or executable data decodes into control characters. Data may follow a
 * beginning that is text, so every part is checked.
 */
function isBinary(text: string): boolean {
	for (let end = SAMPLE_BYTES; ; end += SAMPLE_BYTES) {
		// The last part overlaps the one before, so that it has the same length: few characters prove nothing.
		const until = Math.min(end, text.length);
		const part = text.slice(Math.max(0, until - SAMPLE_BYTES), until);
		// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
		const controlCount = part.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u0080-\u009f\ufffd]/g)?.length ?? 0;
		if (controlCount > 2 + part.length / 100) return true;
		if (until === text.length) return false;
	}
}
