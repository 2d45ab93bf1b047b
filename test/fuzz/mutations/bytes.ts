import fc from 'fast-check';

/** A place in bytes, as a fraction of their length. */
type Place = number;

/** A change of bytes, as plain data. */
export type ByteEdit =
	| { edit: 'flip'; at: Place; bit: number }
	| { edit: 'set'; at: Place; byte: number }
	| { edit: 'cut'; at: Place; length: number }
	| { edit: 'truncate'; at: Place }
	| { edit: 'copy'; from: Place; to: Place; length: number }
	| { edit: 'repeat'; at: Place; length: number; times: number }
	| { edit: 'insert'; at: Place; text: string }
	| { edit: 'number'; at: Place; value: string };

/** Pieces that mean something to a parser of some format. */
const TOKENS = [
	...[
		'<',
		'>',
		'&',
		'"',
		"'",
		'\0',
		'\r',
		'\n',
		'\t',
		'\ufeff',
		'\u202e',
		'\ud83d\ude00',
		'&#0;',
		'&#x110000;',
		'&x;',
		']]>',
	],
	...['<!DOCTYPE a [<!ENTITY x "y">]>', '<![CDATA[', '<!--', '-->', '<?xml version="1.0"?>', '<a', '</a>', '<a/>'],
	...[
		'<table>',
		'<tr><td>',
		'<td colspan=1000 rowspan=65534>',
		'<template>',
		'<svg>',
		'<select><option>',
		'</body>',
		'<p>',
	],
	...[
		'<w:p>',
		'</w:p>',
		'<w:tbl>',
		'<w:gridSpan w:val="99999"/>',
		'<w:vMerge/>',
		'<w:instrText>',
		'<w:footnoteReference w:id="1"/>',
	],
	...[
		'endobj',
		'endstream',
		'stream\n',
		'obj',
		'<<',
		'>>',
		'[',
		']',
		'(',
		')',
		'/',
		'%',
		' 0 R',
		'/Kids',
		'/Parent',
		'/Length -1',
	],
	...[
		'BT',
		'ET',
		'Tj',
		'Do',
		'BI',
		'EI',
		'q',
		'Q',
		'cm',
		'Tf',
		'/Filter/FlateDecode',
		'/Type/ObjStm',
		'xref',
		'startxref',
	],
	...['{\\rtf', '}', '\\bin9999999', "\\'", '\\u-1', '\\trowd', '\\cell', '\\row', '\\fonttbl', '\\uc99'],
	...['# ', '- ', '> ', '```\n', '|', '|---|', '**', '[](', '![', '---\n', '    ', '1. '],
	...[
		'--boundary',
		'Content-Type: multipart/mixed; boundary=a\r\n',
		'Content-Transfer-Encoding: base64\r\n',
		'=?utf-8?Q?',
		'","',
		'\x1b$B',
	],
];

/** Numbers at which counters, lengths and offsets go wrong. */
const NUMBERS = [
	'0',
	'-1',
	'1',
	'7',
	'255',
	'65535',
	'65536',
	'2147483647',
	'4294967295',
	'99999999999999999999',
	'1e309',
	'-0.5',
	'NaN',
];

const place: fc.Arbitrary<Place> = fc.nat(1_000_000).map((millionths) => millionths / 1_000_001);
const length = fc.oneof(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 1, max: 4_000 }));

export const byteEdit: fc.Arbitrary<ByteEdit> = fc.oneof(
	fc.record({ edit: fc.constant('flip' as const), at: place, bit: fc.nat(7) }),
	fc.record({
		edit: fc.constant('set' as const),
		at: place,
		byte: fc.oneof(fc.constantFrom(0, 10, 32, 127, 255), fc.nat(255)),
	}),
	fc.record({ edit: fc.constant('cut' as const), at: place, length }),
	fc.record({ edit: fc.constant('truncate' as const), at: place }),
	fc.record({ edit: fc.constant('copy' as const), from: place, to: place, length }),
	fc.record({ edit: fc.constant('repeat' as const), at: place, length, times: fc.integer({ min: 2, max: 60 }) }),
	{
		weight: 2,
		arbitrary: fc.record({ edit: fc.constant('insert' as const), at: place, text: fc.constantFrom(...TOKENS) }),
	},
	{
		weight: 2,
		arbitrary: fc.record({ edit: fc.constant('number' as const), at: place, value: fc.constantFrom(...NUMBERS) }),
	},
);

/** The bytes after a change. */
export function editBytes(bytes: Buffer, change: ByteEdit): Buffer {
	const index = (fraction: Place) => Math.floor(fraction * bytes.length);
	switch (change.edit) {
		case 'flip':
		case 'set': {
			const copy = Buffer.from(bytes);
			const at = index(change.at);
			if (at < copy.length) copy[at] = change.edit === 'set' ? change.byte : (copy[at] as number) ^ (1 << change.bit);
			return copy;
		}
		case 'cut':
			return Buffer.concat([bytes.subarray(0, index(change.at)), bytes.subarray(index(change.at) + change.length)]);
		case 'truncate':
			return bytes.subarray(0, index(change.at));
		case 'copy': {
			const piece = bytes.subarray(index(change.from), index(change.from) + change.length);
			return insert(bytes, index(change.to), piece);
		}
		case 'repeat': {
			const piece = bytes.subarray(index(change.at), index(change.at) + change.length);
			return insert(bytes, index(change.at), Buffer.concat(Array(change.times).fill(piece)));
		}
		case 'insert':
			return insert(bytes, index(change.at), Buffer.from(change.text));
		case 'number':
			return replaceNumber(bytes, index(change.at), change.value);
	}
}

function insert(bytes: Buffer, at: number, piece: Uint8Array): Buffer {
	return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
}

/** Replaces the first decimal number behind a place. */
function replaceNumber(bytes: Buffer, from: number, value: string): Buffer {
	const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 48 && byte <= 57;
	let start = from;
	while (start < bytes.length && !isDigit(bytes[start])) start++;
	let end = start;
	while (isDigit(bytes[end])) end++;
	return Buffer.concat([bytes.subarray(0, start), Buffer.from(value), bytes.subarray(end)]);
}
