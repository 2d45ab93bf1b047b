const SPACE = 0x20;
const PLUS = 0x2b;
const AMPERSAND = 0x26;
const PERCENT = 0x25;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;
const U = 0x75;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
/** Characters of a character reference after its `&`, including the `;`: `#x0010FFFF;`. */
const MAX_REFERENCE_LENGTH = 11;

interface Escape {
	/** The UTF-16 unit, or the byte of UTF-8, that it encodes. */
	unit: number;
	/** Its bytes after its first character. */
	length: number;
	isByte: boolean;
}

/** The value of a hexadecimal digit by its character code; -1 where it is no digit. */
function hexDigit(code: number): number {
	if (code >= 0x30 && code <= 0x39) return code - 0x30;
	const lower = code | 0x20;
	return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/**
 * A text with all escapes of JSON, URLs, forms and HTML decoded, also nested ones: `a\/b`, `a%2fb`, `a&#x2F;b`, `a%252Fb` and
 * `a/b` become equal. It is for comparison only. Backslashes are removed, spaces are `+`.
 *
 * The text is read from its end, so that the characters of an escape are decoded before the escape itself. The time is linear
 * in the length of the text.
 */
export class CanonicalText {
	/** UTF-8, one character for each byte. */
	readonly bytes: string;
	readonly #text: string;
	readonly #bytes: Uint8Array;
	/** Start and end in the text of the character that each byte encodes. */
	readonly #starts: Uint32Array;
	readonly #ends: Uint32Array;
	/** The first byte so far. */
	#start: number;

	constructor(text: string) {
		this.#text = text;
		const capacity = 3 * text.length;
		this.#bytes = new Uint8Array(capacity);
		this.#starts = new Uint32Array(capacity);
		this.#ends = new Uint32Array(capacity);
		this.#start = capacity;
		for (let at = text.length - 1; at >= 0; at--) this.#prepend(text.charCodeAt(at), at);
		this.bytes = Buffer.from(this.#bytes.buffer, this.#start).toString('latin1');
	}

	/**
	 * The text with the matches of a pattern in its bytes replaced, from the start of the first byte to the end of the last.
	 * @param pattern global, and never empty
	 */
	replace(pattern: RegExp, by: string): string {
		let replaced = '';
		let done = 0;
		for (const { 0: found, index } of this.bytes.matchAll(pattern)) {
			const first = this.#start + index;
			replaced += this.#text.slice(done, this.#starts[first]) + by;
			done = this.#ends[first + found.length - 1] as number;
		}
		return replaced + this.#text.slice(done);
	}

	/** Prepends a character, or decodes the escape that it starts. */
	#prepend(code: number, start: number): void {
		let unit = code;
		let end = start + 1;
		let isByte = false;
		for (let next = this.#escape(unit); next !== null; next = isByte ? null : this.#escape(unit)) {
			end = this.#ends[this.#start + next.length - 1] as number;
			this.#start += next.length;
			unit = next.unit;
			isByte = next.isByte;
		}
		if (isByte) this.#prependByte(unit, start, end);
		else if (unit !== BACKSLASH) this.#prependUtf8(unit === SPACE ? PLUS : unit, start, end);
		// A backslash escapes the next character, unless it is the last one.
		else if (this.#start < this.#bytes.length) this.#starts[this.#start] = start;
	}

	#prependUtf8(unit: number, start: number, end: number): void {
		if (unit >= 0x80) this.#prependByte(0x80 | (unit & 0x3f), start, end);
		if (unit >= 0x800) this.#prependByte(0x80 | ((unit >> 6) & 0x3f), start, end);
		const first = unit < 0x80 ? unit : unit < 0x800 ? 0xc0 | (unit >> 6) : 0xe0 | (unit >> 12);
		this.#prependByte(first, start, end);
	}

	#prependByte(byte: number, start: number, end: number): void {
		this.#start--;
		this.#bytes[this.#start] = byte;
		this.#starts[this.#start] = start;
		this.#ends[this.#start] = end;
	}

	/** The value of an escape that starts with this character; null where it starts none. */
	#escape(unit: number): Escape | null {
		if (unit === PERCENT) {
			const byte = this.#hex(0, 2);
			return byte < 0 ? null : { unit: byte, length: 2, isByte: byte >= 0x80 };
		}
		if (unit === BACKSLASH && this.#bytes[this.#start] === U) {
			const named = this.#hex(1, 4);
			return named < 0 ? null : { unit: named, length: 5, isByte: false };
		}
		return unit === AMPERSAND ? this.#reference() : null;
	}

	#reference(): Escape | null {
		const end = this.#bytes.subarray(this.#start, this.#start + MAX_REFERENCE_LENGTH).indexOf(SEMICOLON);
		if (end < 0) return null;
		const word = Buffer.from(this.#bytes.buffer, this.#start, end).toString('latin1');
		const unit = word.startsWith('#') ? codePointOf(word) : (ENTITIES[word]?.charCodeAt(0) ?? -1);
		// Characters beyond the basic plane are two units, and no secret has them.
		return unit >= 0 && unit <= 0xffff ? { unit, length: end + 1, isByte: false } : null;
	}

	/** The number of this many hexadecimal digits; -1 where they are no digits. */
	#hex(from: number, digits: number): number {
		let number = 0;
		for (let at = this.#start + from; at < this.#start + from + digits; at++) {
			const digit = hexDigit(this.#bytes[at] ?? 0);
			if (digit < 0) return -1;
			number = number * 16 + digit;
		}
		return number;
	}
}

function codePointOf(word: string): number {
	const [, isHex, digits = ''] = /^#(x?)([\da-f]+)$/i.exec(word) ?? [];
	if (digits === '' || (!isHex && /\D/.test(digits))) return -1;
	return Number.parseInt(digits, isHex ? 16 : 10);
}
