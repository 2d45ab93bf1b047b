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
	/** Whether the database file has pages of these commits: then it cannot go on without them. */
	isCopied: boolean;
}

/**
 * Looks for damage in the middle of a write-ahead log. SQLite ends its recovery at the first frame whose checksum is wrong, without an
 * error, because an interrupted commit ends the log in the same way. Ends of two commits from such a frame on, whose checksums follow
 * each other, cannot be an interrupted commit: the second was written after the first was synced. Commits that failed leave frames, too,
 * but each of them has a chain of checksums of its own. A damaged last commit cannot be told from an interrupted one.
 * The format is in https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
 * @param database the path of the database, beside which its log is
 * @returns null for a sound log, and where there is none
 */
export function findWalDamage(database: string): WalDamage | null {
	const found = readLog(database);
	if (found === null) return null;
	// Beside a running server the log may have been started again during the first look.
	const again = readLog(database);
	return again?.frame === found.frame ? again : null;
}

function readLog(database: string): WalDamage | null {
	const log = openIfThere(`${database}-wal`);
	if (log === null) return null;
	try {
		const found = readFrames(log);
		if (found === null) return null;
		const { lastCommit, ...damage } = found;
		const copied = copiedOf(log, database, found);
		// Without the header nothing of the log is read. Where all of it was copied nothing is lost: so it is where a process ended while
		// SQLite wrote the header of the next log.
		if (found.frame === 0 && copied === 'all') return null;
		return { ...damage, isCopied: copied !== 'nothing' };
	} finally {
		closeSync(log);
	}
}

function openIfThere(file: string): number | null {
	try {
		return openSync(file, 'r');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
		throw error;
	}
}

/** The damage that the frames show, and the last frame before it that ends a commit; 0 where there is none. */
interface FoundDamage extends Pick<WalDamage, 'frame' | 'commits'> {
	lastCommit: number;
}

function readFrames(descriptor: number): FoundDamage | null {
	const header = Buffer.alloc(HEADER_BYTES);
	const bytes = readSync(descriptor, header, 0, HEADER_BYTES, 0);
	if (bytes === 0) return null;
	const magic = header.readUInt32BE(0);
	const pageBytes = header.readUInt32BE(8);
	const isLog = (magic === MAGIC_LITTLE_ENDIAN || magic === MAGIC_BIG_ENDIAN) && isPageSize(pageBytes);
	if (bytes < HEADER_BYTES || !isLog) return { frame: 0, commits: 0, lastCommit: 0 };
	const isBigEndian = magic === MAGIC_BIG_ENDIAN;
	let previous = addChecksum([0, 0], header.subarray(0, 24), isBigEndian);
	if (!hasChecksum(header, 24, previous)) return { frame: 0, commits: 0, lastCommit: 0 };
	const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
	let damagedFrame: number | null = null;
	let commits = 0;
	let lastCommit = 0;
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
		if (follows && damagedFrame === null) {
			if (frame.readUInt32BE(4) > 0) lastCommit = number;
			continue;
		}
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
	return damagedFrame !== null && longestChain > 1 ? { frame: damagedFrame, commits, lastCommit } : null;
}

/**
 * What the database file has of the commits that cannot be read. SQLite copies pages of the log into the database when the log is long
 * (a checkpoint), and does not record durably up to which commit. A page that a later commit brought back to its earlier bytes looks
 * copied, too.
 */
function copiedOf(
	log: number,
	database: string,
	{ frame: damagedFrame, lastCommit }: FoundDamage,
): 'nothing' | 'something' | 'all' {
	const file = openIfThere(database);
	if (file === null) return 'nothing';
	try {
		const pageBytes = pageBytesOf(file);
		if (pageBytes === null) return 'nothing';
		const frames = new FrameReader(log, pageBytes);
		// Frames with another salt are of the log before, whose pages were all copied.
		const salt = damagedFrame === 0 ? frames.firstSalt() : frames.saltOfHeader();
		if (salt === null) return 'something';
		const page = Buffer.alloc(pageBytes);
		/** Whether the database has the page of the last frame that was read. */
		const isInDatabase = () =>
			readSync(file, page, 0, pageBytes, (frames.pageNumber - 1) * pageBytes) === pageBytes && frames.page.equals(page);
		/** Pages that the readable commits bring back to their state. */
		const readable = new Set<number>();
		/** The last frame of each other page. */
		const newest = new Map<number, number>();
		let isCopied = false;
		for (let number = 1; frames.read(number); number++) {
			const { pageNumber } = frames;
			if (!frames.salt.equals(salt) || pageNumber === 0) continue;
			if (number <= lastCommit) readable.add(pageNumber);
			else if (!readable.has(pageNumber)) {
				newest.set(pageNumber, number);
				isCopied ||= isInDatabase();
			}
		}
		if (!isCopied) return 'nothing';
		return [...newest.values()].every((number) => frames.read(number) && isInDatabase()) ? 'all' : 'something';
	} finally {
		closeSync(file);
	}
}

/** Reads frames of a log without their checksums. The other members are those of the last frame that was read. */
class FrameReader {
	readonly #log: number;
	readonly #frame: Buffer;

	constructor(log: number, pageBytes: number) {
		this.#log = log;
		this.#frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
	}

	/** @param number from 1 @returns false after the last one */
	read(number: number): boolean {
		const { length } = this.#frame;
		return readSync(this.#log, this.#frame, 0, length, HEADER_BYTES + (number - 1) * length) === length;
	}

	get pageNumber(): number {
		return this.#frame.readUInt32BE(0);
	}

	get salt(): Buffer {
		return this.#frame.subarray(8, 16);
	}

	get page(): Buffer {
		return this.#frame.subarray(FRAME_HEADER_BYTES);
	}

	saltOfHeader(): Buffer {
		const salt = Buffer.alloc(8);
		readSync(this.#log, salt, 0, salt.length, 16);
		return salt;
	}

	/** The salt of the first two neighbouring frames that have the same: damage of the header may reach into the first frame. */
	firstSalt(): Buffer | null {
		let before: Buffer | null = null;
		for (let number = 1; this.read(number); number++) {
			if (before?.equals(this.salt) && this.pageNumber > 0) return before;
			before = Buffer.from(this.salt);
		}
		return null;
	}
}

/** The size of the pages in the head of a database; null where there is none. */
function pageBytesOf(file: number): number | null {
	const head = Buffer.alloc(18);
	if (readSync(file, head, 0, head.length, 0) < head.length) return null;
	const bytes = head.readUInt16BE(16);
	const size = bytes === 1 ? 65_536 : bytes;
	return isPageSize(size) ? size : null;
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
