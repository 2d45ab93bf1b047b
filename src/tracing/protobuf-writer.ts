/** The longest varint: a number up to 2^53, with 7 bits in each byte. */
const MAX_VARINT_BYTES = 8;
const TWO_TO_32 = 2 ** 32;

/** The wire types of Protocol Buffers. */
const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

/** Writes messages in the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding). */
export class ProtobufWriter {
	#bytes: Buffer;
	#length = 0;

	/** @param capacity bytes that it can take before it grows */
	constructor(capacity: number) {
		this.#bytes = Buffer.allocUnsafeSlow(capacity);
	}

	/** Bytes that are written. */
	get length(): number {
		return this.#length;
	}

	/** What is written. It must not be written to afterwards. */
	finish(): Buffer {
		return this.#bytes.subarray(0, this.#length);
	}

	/** Begins a message, or bytes, in a field. @returns the mark for `end` */
	begin(field: number): number {
		this.#tag(field, LENGTH_DELIMITED);
		// Most messages are shorter than 128 bytes: their length takes one byte.
		this.#reserve(1);
		return ++this.#length;
	}

	/** Ends what began at the mark. */
	end(mark: number): void {
		const size = this.#length - mark;
		const prefix = varintBytes(size);
		// Before the length is moved back: growing copies what lies in front of it.
		this.#reserve(MAX_VARINT_BYTES);
		if (prefix > 1) this.#bytes.copyWithin(mark + prefix - 1, mark, this.#length);
		this.#length = mark - 1;
		this.#varint(size);
		this.#length += size;
	}

	/** @param value a whole number from 0 to 2^53 */
	number(field: number, value: number): void {
		this.#tag(field, VARINT);
		this.#varint(value);
	}

	double(field: number, value: number): void {
		this.#tag(field, FIXED_64);
		this.#reserve(8);
		this.#length = this.#bytes.writeDoubleLE(value, this.#length);
	}

	/** 8 bytes, the lowest first. @param value a whole number from 0 to 2^64; above 2^53 as exact as a double is */
	fixed64(field: number, value: number): void {
		this.#tag(field, FIXED_64);
		this.#reserve(8);
		const high = Math.floor(value / TWO_TO_32);
		this.#length = this.#bytes.writeUInt32LE(value - high * TWO_TO_32, this.#length);
		this.#length = this.#bytes.writeUInt32LE(high, this.#length);
	}

	fixed32(field: number, value: number): void {
		this.#tag(field, FIXED_32);
		this.#reserve(4);
		this.#length = this.#bytes.writeUInt32LE(value, this.#length);
	}

	/** Adds 4 bytes, the highest first. */
	int32BigEndian(value: number): void {
		this.#reserve(4);
		this.#length = this.#bytes.writeInt32BE(value, this.#length);
	}

	text(field: number, text: string): void {
		const mark = this.begin(field);
		this.#reserve(3 * text.length);
		this.#length += this.#writeAscii(text) ? text.length : this.#bytes.write(text, mark);
		this.end(mark);
	}

	/** Writes the bytes of hexadecimal digits in lower case. */
	hex(field: number, digits: string): void {
		const mark = this.begin(field);
		this.#reserve(digits.length / 2);
		for (let at = 0; at < digits.length; at += 2)
			this.#bytes[this.#length++] = 16 * digitOf(digits.charCodeAt(at)) + digitOf(digits.charCodeAt(at + 1));
		this.end(mark);
	}

	/** Writes a text behind what is written. @returns false if it has other characters than those of ASCII; then it is not written whole */
	#writeAscii(text: string): boolean {
		// Most texts are names and ids: a call of the encoder takes longer than this loop.
		for (let at = 0; at < text.length; at++) {
			const unit = text.charCodeAt(at);
			if (unit > 0x7f) return false;
			this.#bytes[this.#length + at] = unit;
		}
		return true;
	}

	#tag(field: number, type: number): void {
		this.#varint(field * 8 + type);
	}

	#varint(value: number): void {
		this.#reserve(MAX_VARINT_BYTES);
		let rest = value;
		for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) this.#bytes[this.#length++] = (rest % 0x80) + 0x80;
		this.#bytes[this.#length++] = rest;
	}

	#reserve(bytes: number): void {
		if (this.#length + bytes <= this.#bytes.length) return;
		const larger = Buffer.allocUnsafeSlow(2 * (this.#length + bytes));
		larger.set(this.#bytes.subarray(0, this.#length));
		this.#bytes = larger;
	}
}

function varintBytes(value: number): number {
	let bytes = 1;
	for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes++;
	return bytes;
}

/** @param unit the code of 0 to 9, or a to f */
function digitOf(unit: number): number {
	return unit < 0x3a ? unit - 0x30 : unit - 0x57;
}
