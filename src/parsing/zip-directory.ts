/** A file of an archive, as its directory describes it. */
export interface ArchiveEntry {
	name: string;
	isEncrypted: boolean;
	/** How it is compressed: 0 is not at all, 8 is deflate. */
	method: number;
	/** The bytes in the archive, still compressed. */
	data: Buffer;
	/** Its size after inflation, as the archive declares it. */
	size: number;
}

const END_OF_DIRECTORY = 0x06054b50;
const END_OF_DIRECTORY_BYTES = 22;
/** A comment stands behind the end of the directory. */
const MAX_COMMENT_BYTES = 0xffff;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_64_BYTES = 20;
const END_OF_DIRECTORY_64 = 0x06064b50;
const FILE_HEADER = 0x02014b50;
const FILE_HEADER_BYTES = 46;
const LOCAL_HEADER = 0x04034b50;
const LOCAL_HEADER_BYTES = 30;
const EXTRA_64 = 0x0001;

const ENCRYPTED = 0x0001;
const UTF_8 = 0x0800;

/**
 * Reads the directory of an archive (ZIP, APPNOTE.TXT 4.3), with the extensions for large archives (4.5.3).
 * @throws Error if it is damaged
 */
export function* archiveEntries(archive: Buffer): Generator<ArchiveEntry> {
	const { start, count } = locateDirectory(archive);
	let at = start;
	for (let index = 0; index < count; index++) {
		requireSignature(archive, at, FILE_HEADER);
		const flags = archive.readUInt16LE(at + 8);
		const nameEnd = at + FILE_HEADER_BYTES + archive.readUInt16LE(at + 28);
		const extraEnd = nameEnd + archive.readUInt16LE(at + 30);
		const sizes = sizesOf(archive, at, nameEnd, extraEnd);
		yield {
			name: nameOf(archive.subarray(at + FILE_HEADER_BYTES, nameEnd), (flags & UTF_8) !== 0),
			isEncrypted: (flags & ENCRYPTED) !== 0,
			method: archive.readUInt16LE(at + 10),
			data: dataAt(archive, sizes.offset, sizes.compressed),
			size: sizes.size,
		};
		at = extraEnd + archive.readUInt16LE(at + 32);
	}
}

function locateDirectory(archive: Buffer): { start: number; count: number } {
	const mark = Buffer.alloc(4);
	mark.writeUInt32LE(END_OF_DIRECTORY);
	const last = archive.length - END_OF_DIRECTORY_BYTES;
	const end = last < 0 ? -1 : archive.lastIndexOf(mark, last);
	if (end === -1 || end < last - MAX_COMMENT_BYTES) throw new Error('It has no directory.');
	const locator = end - LOCATOR_64_BYTES;
	if (locator >= 0 && archive.readUInt32LE(locator) === LOCATOR_64) {
		const at = Number(archive.readBigUInt64LE(locator + 8));
		requireSignature(archive, at, END_OF_DIRECTORY_64);
		return { start: Number(archive.readBigUInt64LE(at + 48)), count: Number(archive.readBigUInt64LE(at + 32)) };
	}
	return { start: archive.readUInt32LE(end + 16), count: archive.readUInt16LE(end + 10) };
}

/** The sizes of a file and the place of its local header. Numbers that do not fit into 32 bits are in an extra field. */
function sizesOf(archive: Buffer, header: number, extraStart: number, extraEnd: number) {
	const sizes = {
		size: archive.readUInt32LE(header + 24),
		compressed: archive.readUInt32LE(header + 20),
		offset: archive.readUInt32LE(header + 42),
	};
	for (let at = extraStart; at + 4 <= extraEnd; at += 4 + archive.readUInt16LE(at + 2)) {
		if (archive.readUInt16LE(at) !== EXTRA_64) continue;
		let value = at + 4;
		for (const field of ['size', 'compressed', 'offset'] as const) {
			if (sizes[field] !== 0xffffffff) continue;
			sizes[field] = Number(archive.readBigUInt64LE(value));
			value += 8;
		}
	}
	return sizes;
}

/** The local header repeats the name, and may have other extra fields. */
function dataAt(archive: Buffer, header: number, size: number): Buffer {
	requireSignature(archive, header, LOCAL_HEADER);
	const start = header + LOCAL_HEADER_BYTES + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
	if (start + size > archive.length) throw new Error('A file ends after the archive.');
	return archive.subarray(start, start + size);
}

/** Many programs write UTF-8 without the flag for it. Other names are in the charset of the writer's system. */
function nameOf(bytes: Buffer, isUtf8: boolean): string {
	if (isUtf8) return bytes.toString('utf8');
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return bytes.toString('latin1');
	}
}

function requireSignature(archive: Buffer, at: number, signature: number): void {
	if (!(at >= 0 && at + 4 <= archive.length) || archive.readUInt32LE(at) !== signature) {
		throw new Error('Its directory is damaged.');
	}
}
