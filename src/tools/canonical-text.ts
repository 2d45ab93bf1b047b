const SPACE = 0x20;
const PLUS = 0x2b;
const AMPERSAND = 0x26;
const PERCENT = 0x25;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;
const U = 0x75;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
/** Of a character reference, from behind its `&`, the `;` included: `#x0010FFFF;`. */
const MAX_REFERENCE_LENGTH = 11;

interface Escape {
	/** The UTF-16 unit, or the byte of UTF-8, that it stands for. */
	unit: number;
	/** Bytes of it behind its first character. */
	length: number;
	isByte: boolean;
}

/** What a character code stands for in hexadecimal; -1 where it is no digit. */
function hexDigit(code: number): number {
	if (code >= 0x30 && code <= 0x39) return code - 0x30;
	const lower = code | 0x20;
	return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/**
 * A text with everything undone that writers of JSON, URLs, forms and HTML do to characters, however often one was put into
 * another: `a\/b`, `a%2fb`, `a&#x2F;b`, `a%252Fb` and `a/b` are all the same then. It is for comparing only. Backslashes
 * are gone, spaces are `+`.
 *
 * It is read from its end, so that what an escape is made of has been undone when the escape is met; the time that takes
 * grows with the length of the text and with nothing else.
 */
export class CanonicalText {
	/** UTF-8, one character for each byte. */
	readonly bytes: string;
	readonly #text: string;
	readonly #bytes: Uint8Array;
	/** Where in the text that begins, and ends, which each byte stands for. */
	readonly #starts: Uint32Array;
	readonly #ends: Uint32Array;
	/** The first byte there is so far. */
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
	 * The text with whatever a pattern finds in its bytes replaced, from where the first of them begins to where the last ends.
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

	/** Puts a character before what there is, or what it makes of what there is. */
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
		// What it stands before is written so, unless it is the last character.
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

	/** What a character stands for together with so many bytes behind it; null where it is no escape. */
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
		// What is beyond has two halves, and none of the secrets has them.
		return unit >= 0 && unit <= 0xffff ? { unit, length: end + 1, isByte: false } : null;
	}

	/** The number in so many hexadecimal digits; -1 where they are none. */
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
