const UNKNOWN = '\ufffd';

/** The characters of the font Symbol from 0x20 to 0x7e, and from 0xa0. */
const LOW = ' !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼';
const HIGH = '€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑';
const LATE = new Map([
	[0xf1, '〉'],
	[0xf2, '∫'],
]);

/** The signs of the font Wingdings that texts use: boxes, ticks, crosses, arrows and bullets. */
const WINGDINGS = new Map([
	[0x6c, '●'],
	[0x6e, '■'],
	[0x6f, '☐'],
	[0xa7, '▪'],
	[0xa8, '☐'],
	[0xdf, '←'],
	[0xe0, '→'],
	[0xfb, '✗'],
	[0xfc, '✓'],
	[0xfd, '☒'],
	[0xfe, '☑'],
]);

/** Whether a font has signs in the place of letters. */
export function isSymbolFont(font: string): boolean {
	return /^(?:symbol|wingdings)/i.test(font.trim());
}

/**
 * The character that a font of signs shows for a code. Codes may be those of a byte, or the same in the private area from U+F000.
 * Signs that are not known are U+FFFD: the letter with the same code would be false.
 */
export function symbolOf(font: string, code: number): string {
	if (Number.isNaN(code)) return '';
	const isPrivate = code >= 0xf000 && code <= 0xf0ff;
	if (code > 0xff && !isPrivate) return code <= 0x10ffff ? String.fromCodePoint(code) : UNKNOWN;
	const byte = code & 0xff;
	if (/^wingdings$/i.test(font.trim())) return WINGDINGS.get(byte) ?? UNKNOWN;
	if (!/^symbol/i.test(font.trim())) return UNKNOWN;
	if (byte < 0x20) return '';
	return LOW[byte - 0x20] ?? (byte < 0xa0 ? UNKNOWN : (HIGH[byte - 0xa0] ?? LATE.get(byte) ?? UNKNOWN));
}
