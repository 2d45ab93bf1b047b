import { closeSync, openSync, readSync } from 'node:fs';

/** The first bytes of a log whose checksums are over little-endian words, and over big-endian words. */
const MAGIC_LITTLE_ENDIAN = 0x377f0682;
const MAGIC_BIG_ENDIAN = 0x377f0683;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Where the write-ahead log is damaged. */
export interface WalDamage {
	/** The first frame that cannot be read, from 1; 0 for the header of the file. */
	frame: number;
	/** Commits from there on, which cannot be read. */
	commits: number;
}

/**
 * Looks for damage in the middle of a write-ahead log. SQLite ends its recovery at the first frame whose checksum is wrong, without an
 * error, because an interrupted commit ends the log in the same way. Ends of two commits from such a frame on, whose checksums follow
 * each other, cannot be an interrupted commit: the second was written after the first was synced. Commits that failed leave frames, too,
 * but each of them has a chain of checksums of its own. A damaged last commit cannot be told from an interrupted one.
 * The format is in https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
 * @returns null for a sound log, and where there is none
 */
export function findWalDamage(file: string): WalDamage | null {
	const found = readLog(file);
	if (found === null) return null;
	// Beside a running server the log may have been started again during the first look.
	const again = readLog(file);
	return again?.frame === found.frame ? again : null;
}

function readLog(file: string): WalDamage | null {
	let descriptor: number;
	try {
		descriptor = openSync(file, 'r');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
		throw error;
	}
	try {
		return readFrames(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

function readFrames(descriptor: number): WalDamage | null {
	const header = Buffer.alloc(HEADER_BYTES);
	const bytes = readSync(descriptor, header, 0, HEADER_BYTES, 0);
	if (bytes === 0) return null;
	const magic = header.readUInt32BE(0);
	const pageBytes = header.readUInt32BE(8);
	const isLog = (magic === MAGIC_LITTLE_ENDIAN || magic === MAGIC_BIG_ENDIAN) && isPageSize(pageBytes);
	if (bytes < HEADER_BYTES || !isLog) return { frame: 0, commits: 0 };
	const isBigEndian = magic === MAGIC_BIG_ENDIAN;
	let previous = addChecksum([0, 0], header.subarray(0, 24), isBigEndian);
	if (!hasChecksum(header, 24, previous)) return { frame: 0, commits: 0 };
	const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
	let damagedFrame: number | null = null;
	let commits = 0;
	/** Commits that end in frames whose checksums follow each other. */
	let commitsInChain = 0;
	let longestChain = 0;
	for (let number = 1; ; number++) {
		const offset = HEADER_BYTES + (number - 1) * frame.length;
		if (readSync(descriptor, frame, 0, frame.length, offset) < frame.length) break;
		const hasSalt = frame.compare(header, 16, 24, 8, 16) === 0;
		const head = addChecksum(previous, frame.subarray(0, 8), isBigEndian);
		const checksum = addChecksum(head, frame.subarray(FRAME_HEADER_BYTES), isBigEndian);
		const follows = hasSalt && hasChecksum(frame, 16, checksum);
		previous = [frame.readUInt32BE(16), frame.readUInt32BE(20)];
		if (follows && damagedFrame === null) continue;
		damagedFrame ??= number;
		// A frame that ends a commit has the size of the database after it. Frames with another salt are of the log before.
		const endsCommit = hasSalt && frame.readUInt32BE(4) > 0;
		if (!follows) commitsInChain = 0;
		if (endsCommit) {
			commits++;
			commitsInChain++;
		}
		longestChain = Math.max(longestChain, commitsInChain);
	}
	return damagedFrame !== null && longestChain > 1 ? { frame: damagedFrame, commits } : null;
}

const isPageSize = (bytes: number) => bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;

type Checksum = readonly [number, number];

function addChecksum([first, second]: Checksum, bytes: Buffer, isBigEndian: boolean): Checksum {
	let s0 = first;
	let s1 = second;
	for (let at = 0; at < bytes.length; at += 8) {
		s0 = (s0 + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + s1) >>> 0;
		s1 = (s1 + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + s0) >>> 0;
	}
	return [s0, s1];
}

function hasChecksum(bytes: Buffer, offset: number, [first, second]: Checksum): boolean {
	return bytes.readUInt32BE(offset) === first && bytes.readUInt32BE(offset + 4) === second;
}
