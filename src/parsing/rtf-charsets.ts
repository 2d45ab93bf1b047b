import { isSymbolFont, symbolOf } from './symbol-font.ts';

/** The charsets of fonts (RTF 1.9.1, \fcharset). */
const FONT_CHARSETS: Record<number, string> = {
	128: 'shift_jis',
	129: 'euc-kr',
	134: 'gbk',
	136: 'big5',
	161: 'windows-1253',
	162: 'windows-1254',
	163: 'windows-1258',
	177: 'windows-1255',
	178: 'windows-1256',
	186: 'windows-1257',
	204: 'windows-1251',
	222: 'windows-874',
	238: 'windows-1250',
};

/** The charset number of fonts that have signs in the place of letters. */
export const SYMBOL_CHARSET = 2;
const DEFAULT_CHARSET = 1;

/** The label of a font's charset; null for that of the document. */
export function charsetOfFont(fontCharset: number): string | null {
	return fontCharset === DEFAULT_CHARSET ? null : (FONT_CHARSETS[fontCharset] ?? 'windows-1252');
}

/** Code pages that have another label in the Encoding Standard. */
const CODE_PAGES: Record<string, string> = {
	'windows-932': 'shift_jis',
	'windows-936': 'gbk',
	'windows-949': 'euc-kr',
	'windows-950': 'big5',
	'windows-10000': 'macintosh',
	'windows-65001': 'utf-8',
};

/** The text of bytes in a charset, or in a font of signs. */
export function decodeBytes(bytes: Uint8Array, charset: string | null): string {
	if (isSymbolFont(charset ?? '')) return Array.from(bytes, (byte) => symbolOf(charset ?? '', byte)).join('');
	const label = CODE_PAGES[charset ?? ''] ?? charset ?? 'windows-1252';
	for (const name of [label, 'windows-1252']) {
		try {
			// Without `stream`, Node 20 reads windows-1252 as ISO-8859-1.
			return new TextDecoder(name, { fatal: true }).decode(bytes, { stream: true });
		} catch {
			// An unknown code page, or bytes of another one.
		}
	}
	return '';
}
