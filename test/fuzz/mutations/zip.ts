import fc from 'fast-check';
import { unzipSync, type Zippable, zipSync } from 'fflate';
import { type ByteEdit, byteEdit, editBytes } from './bytes.ts';

/** A change of a ZIP archive, as plain data. Entries and records are numbers, taken modulo their count. */
export type ZipEdit =
	| { zip: 'content'; entry: number; changes: ByteEdit[] }
	| { zip: 'drop'; entry: number }
	| { zip: 'rename'; entry: number; name: string }
	| { zip: 'exchange'; entry: number; other: number }
	| { zip: 'field'; record: number; field: number; value: number };

const SIGNATURES = [0x04034b50, 0x02014b50, 0x06054b50];
/** Offset and length of the fields of a local header, an entry of the directory, and the end of the directory. */
const FIELDS: Record<number, Array<[offset: number, bytes: 2 | 4]>> = {
	67324752: [
		[4, 2],
		[6, 2],
		[8, 2],
		[14, 4],
		[18, 4],
		[22, 4],
		[26, 2],
		[28, 2],
	],
	33639248: [
		[6, 2],
		[8, 2],
		[10, 2],
		[16, 4],
		[20, 4],
		[24, 4],
		[28, 2],
		[30, 2],
		[32, 2],
		[34, 2],
		[42, 4],
	],
	101010256: [
		[4, 2],
		[8, 2],
		[10, 2],
		[12, 4],
		[16, 4],
		[20, 2],
	],
};

const NAMES = [
	'',
	'../../etc/passwd',
	'/',
	'word/document.xml',
	'[Content_Types].xml',
	'_rels/.rels',
	'mimetype',
	'x'.repeat(3000),
];
const VALUES = [0, 1, 8, 99, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0xfffffffe, 0xffffffff];

export const zipEdit: fc.Arbitrary<ZipEdit> = fc.oneof(
	{
		weight: 5,
		arbitrary: fc.record({
			zip: fc.constant('content' as const),
			entry: fc.nat(30),
			changes: fc.array(byteEdit, { minLength: 1, maxLength: 4 }),
		}),
	},
	fc.record({ zip: fc.constant('drop' as const), entry: fc.nat(30) }),
	fc.record({ zip: fc.constant('rename' as const), entry: fc.nat(30), name: fc.constantFrom(...NAMES) }),
	fc.record({ zip: fc.constant('exchange' as const), entry: fc.nat(30), other: fc.nat(30) }),
	{
		weight: 3,
		arbitrary: fc.record({
			zip: fc.constant('field' as const),
			record: fc.nat(60),
			field: fc.nat(20),
			value: fc.oneof(fc.constantFrom(...VALUES), fc.nat(100_000)),
		}),
	},
);

/** The archive after a change. An archive that cannot be read any more stays as it is, unless the change is of a field. */
export function editZip(bytes: Buffer, change: ZipEdit): Buffer {
	if (change.zip === 'field') return setField(bytes, change.record, change.field, change.value);
	let files: Record<string, Uint8Array>;
	try {
		files = unzipSync(bytes);
	} catch {
		return bytes;
	}
	const entries = Object.entries(files);
	const at = change.entry % Math.max(1, entries.length);
	const entry = entries[at];
	if (entry === undefined) return bytes;
	switch (change.zip) {
		case 'content':
			entry[1] = change.changes.reduce<Buffer>(editBytes, Buffer.from(entry[1]));
			break;
		case 'drop':
			entries.splice(at, 1);
			break;
		case 'rename':
			entry[0] = change.name;
			break;
		case 'exchange': {
			const other = entries[change.other % entries.length];
			if (other) [entry[1], other[1]] = [other[1], entry[1]];
			break;
		}
	}
	return Buffer.from(zipSync(Object.fromEntries(entries) as Zippable, { level: 1, mtime: '2026-01-01' }));
}

/** Sets a field of one of the archive's records. */
function setField(bytes: Buffer, record: number, field: number, value: number): Buffer {
	const records: Array<[at: number, signature: number]> = [];
	for (let at = bytes.indexOf('PK'); at >= 0 && at + 4 <= bytes.length; at = bytes.indexOf('PK', at + 2)) {
		const signature = bytes.readUInt32LE(at);
		if (SIGNATURES.includes(signature)) records.push([at, signature]);
	}
	const found = records[record % Math.max(1, records.length)];
	if (found === undefined) return bytes;
	const fields = FIELDS[found[1]] as Array<[number, 2 | 4]>;
	const [offset, size] = fields[field % fields.length] as [number, 2 | 4];
	const copy = Buffer.from(bytes);
	if (found[0] + offset + size > copy.length) return copy;
	if (size === 2) copy.writeUInt16LE(value & 0xffff, found[0] + offset);
	else copy.writeUInt32LE(value >>> 0, found[0] + offset);
	return copy;
}
