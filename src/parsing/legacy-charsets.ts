// Charsets that TextDecoder does not have (WHATWG Encoding Standard).

/** The characters of the bytes from 0x80 on, by the name of the charset. */
const UPPER_HALVES: Record<string, string> = {
	ibm850:
		'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
	ibm852:
		'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
	ibm855:
		'ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪаАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐└┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀ЯрРсСтТуУжЖвВьЬ№\u00adыЫзЗшШэЭщЩчЧ§■\u00a0',
	'x-mac-ce':
		'ÄĀāÉĄÖÜáąČäčĆćéŹźĎíďĒēĖóėôöõúĚěü†°Ę£§•¶ß®©™ę¨≠ģĮįĪ≤≥īĶ∂∑łĻļĽľĹĺŅņŃ¬√ńŇ∆«»…\u00a0ňŐÕőŌ–—“”‘’÷◊ōŔŕŘ‹›řŖŗŠ‚„šŚśÁŤťÍŽžŪÓÔūŮÚůŰűŲųÝýķŻŁżĢˇ',
};

/** Other names of these charsets. */
const ALIASES: Record<string, string> = {
	cp850: 'ibm850',
	850: 'ibm850',
	cp852: 'ibm852',
	852: 'ibm852',
	cp855: 'ibm855',
	855: 'ibm855',
	'x-mac-centraleurroman': 'x-mac-ce',
	maclatin2: 'x-mac-ce',
	macce: 'x-mac-ce',
};

/** Decodes text in a charset that TextDecoder lacks; null if the charset is not one of them, or the bytes are not such text. */
export function decodeLegacy(bytes: Uint8Array, label: string): string | null {
	const name = label.trim().toLowerCase();
	if (name === 'iso-2022-kr') return decodeIso2022Kr(bytes);
	if (name === 'utf-32' || name === 'utf-32le') return decodeUtf32(bytes, true);
	if (name === 'utf-32be') return decodeUtf32(bytes, false);
	const upper = UPPER_HALVES[ALIASES[name] ?? name];
	if (upper === undefined) return null;
	const units = Uint16Array.from(bytes, (byte) => (byte < 0x80 ? byte : upper.charCodeAt(byte - 0x80)));
	return new TextDecoder('utf-16le').decode(units);
}

const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;

/** RFC 1557: between the two shifts are the characters of EUC-KR without their highest bit. */
function decodeIso2022Kr(bytes: Uint8Array): string | null {
	const eucKr = new Uint8Array(bytes.length);
	let length = 0;
	let isShifted = false;
	for (let at = 0; at < bytes.length; at++) {
		const byte = bytes[at] as number;
		if (byte === SHIFT_OUT || byte === SHIFT_IN) isShifted = byte === SHIFT_OUT;
		// The sequence that announces the charset: ESC $ ) C.
		else if (byte === 0x1b && bytes[at + 1] === 0x24 && bytes[at + 2] === 0x29 && bytes[at + 3] === 0x43) at += 3;
		else eucKr[length++] = isShifted && byte > 0x20 ? byte | 0x80 : byte;
	}
	try {
		return new TextDecoder('euc-kr', { fatal: true }).decode(eucKr.subarray(0, length));
	} catch {
		return null;
	}
}

/** A character that is cut off at the end is left out. */
function decodeUtf32(bytes: Uint8Array, littleEndian: boolean): string | null {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const characters: string[] = [];
	for (let at = 0; at + 4 <= bytes.length; at += 4) {
		const code = view.getUint32(at, littleEndian);
		if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return null;
		if (code !== 0xfeff || at > 0) characters.push(String.fromCodePoint(code));
	}
	return characters.join('');
}
