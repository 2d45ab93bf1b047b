/** A piece of an RTF document: the beginning or end of a group, a control word or symbol, or bytes of text. */
export type RtfToken =
	| { kind: 'open' }
	| { kind: 'close' }
	| { kind: 'control'; word: string; value: number | null }
	| { kind: 'text'; bytes: Uint8Array };

const [BACKSLASH, OPEN, CLOSE, CR, LF, SPACE, MINUS, QUOTE] = [0x5c, 0x7b, 0x7d, 0x0d, 0x0a, 0x20, 0x2d, 0x27];
/** Longer words and numbers are damage. */
const MAX_WORD_BYTES = 64;

/** Divides an RTF document into tokens. The binary data of a `\bin` is left out. */
export function* rtfTokens(bytes: Uint8Array): Generator<RtfToken> {
	for (let at = 0; at < bytes.length; ) {
		const byte = bytes[at] as number;
		if (byte === BACKSLASH) {
			const control = controlAt(bytes, at + 1);
			at = control.end;
			yield control.token;
		} else if (isSpecial(byte)) {
			at++;
			if (byte === OPEN) yield { kind: 'open' };
			else if (byte === CLOSE) yield { kind: 'close' };
		} else {
			const start = at;
			while (at < bytes.length && !isSpecial(bytes[at] as number)) at++;
			yield { kind: 'text', bytes: bytes.subarray(start, at) };
		}
	}
}

/** Line breaks are not text. */
function isSpecial(byte: number): boolean {
	return byte === BACKSLASH || byte === OPEN || byte === CLOSE || byte === CR || byte === LF || byte === 0;
}

function controlAt(bytes: Uint8Array, start: number): { token: RtfToken; end: number } {
	const first = bytes[start] ?? 0;
	if (first === QUOTE) {
		const byte = Number.parseInt(latin1(bytes, start + 1, start + 3), 16);
		return { token: { kind: 'text', bytes: Uint8Array.of(Number.isNaN(byte) ? SPACE : byte) }, end: start + 3 };
	}
	// A backslash before a line break is a paragraph.
	if (first === CR || first === LF) return { token: { kind: 'control', word: 'par', value: null }, end: start + 1 };
	if (!isLetter(first)) {
		return { token: { kind: 'control', word: String.fromCharCode(first), value: null }, end: start + 1 };
	}
	let at = start;
	while (isLetter(bytes[at]) && at - start < MAX_WORD_BYTES) at++;
	const word = latin1(bytes, start, at);
	const number = at;
	if (bytes[at] === MINUS && isDigit(bytes[at + 1])) at++;
	while (isDigit(bytes[at]) && at - number < MAX_WORD_BYTES) at++;
	const value = at === number ? null : Number(latin1(bytes, number, at));
	if (bytes[at] === SPACE) at++;
	if (word === 'bin' && value !== null && value > 0) at += value;
	return { token: { kind: 'control', word, value }, end: at };
}

function isLetter(byte: number | undefined): boolean {
	return byte !== undefined && ((byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a));
}

function isDigit(byte: number | undefined): boolean {
	return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
	return String.fromCharCode(...bytes.subarray(from, to));
}
