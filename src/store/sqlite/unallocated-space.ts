import { closeSync, fstatSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import type { Database } from 'better-sqlite3';

/** Pages of one step: other commits wait that long. */
const PAGES_PER_STEP = 256;
/** From here on the first byte of a page does not tell whether the page is a node of a B-tree. */
const MAX_PAGES = 2 ** 25;
/** Where the header of a node is on the first page of a database. */
const FILE_HEADER_BYTES = 100;
/** The first byte of a node, and the size of its header. */
const HEADER_BYTES: ReadonlyMap<number, number> = new Map([
	[0x02, 12],
	[0x05, 12],
	[0x0a, 8],
	[0x0d, 8],
]);

/** A range of bytes in a page. */
interface ByteRange {
	start: number;
	end: number;
}

/**
 * The unallocated space of a node of a B-tree, between its cell pointers and its cells (SQLite's file format, section 1.6);
 * null for a page that is none, and where the space is zero already.
 * @param headerAt where the node's header begins in the page
 */
export function staleRange(page: Buffer, headerAt: number): ByteRange | null {
	const headerBytes = HEADER_BYTES.get(page[headerAt] as number);
	if (headerBytes === undefined) return null;
	const start = headerAt + headerBytes + 2 * page.readUInt16BE(headerAt + 3);
	// The value 0 stands for 65,536.
	const end = page.readUInt16BE(headerAt + 5) || 65_536;
	if (end > page.length || start >= end) return null;
	return page.subarray(start, end).some((byte) => byte !== 0) ? { start, end } : null;
}

/**
 * Overwrites what SQLite leaves of deleted rows in the database file. `secure_delete` overwrites deleted cells and freed pages.
 * But where SQLite moves cells between neighbouring nodes, a copy of them may stay in the unallocated space of a node, and the
 * later deletion does not reach it. SQLite ignores the content of that space.
 *
 * The file is changed only while the WAL is empty and this connection has the write lock, so that the file is the database and
 * no one else changes it. A power failure may leave a page with a part of the zeros, which is as good as none or all.
 * The file stays open until the connection is closed: closing it would release SQLite's locks (POSIX locks belong to the process).
 */
export class UnallocatedSpace {
	readonly #db: Database;
	readonly #file: string;
	readonly #pageBytes: number;
	#descriptor: number | undefined;
	#nextPage = 0;

	constructor(db: Database, file: string) {
		this.#db = db;
		this.#file = file;
		this.#pageBytes = db.pragma('page_size', { simple: true }) as number;
	}

	/** Begins with the first page again. @throws Error for a database with auto_vacuum, whose pointer maps may begin like a node */
	restart(): void {
		if (this.#db.pragma('auto_vacuum', { simple: true }) !== 0)
			throw new Error('Unallocated space is not overwritten in a database with auto_vacuum.');
		this.#nextPage = 0;
	}

	/**
	 * Overwrites the unallocated space of the next pages. The WAL was truncated just before.
	 * @returns `busy` where the WAL has frames again; `more` while pages are left
	 * @throws Error where the database is too large
	 */
	eraseNext(): 'busy' | 'more' | 'end' {
		this.#db.exec('BEGIN IMMEDIATE');
		try {
			const wal = statSync(`${this.#file}-wal`, { throwIfNoEntry: false });
			if (wal !== undefined && wal.size > 0) return 'busy';
			return this.#erasePages();
		} finally {
			this.#db.exec('ROLLBACK');
			// The connection would write the pages that it has in memory as they were.
			this.#db.pragma('shrink_memory');
		}
	}

	/** After the connection was closed. */
	close(): void {
		if (this.#descriptor !== undefined) closeSync(this.#descriptor);
		this.#descriptor = undefined;
	}

	#erasePages(): 'more' | 'end' {
		this.#descriptor ??= openSync(this.#file, 'r+');
		const pageCount = Math.floor(fstatSync(this.#descriptor).size / this.#pageBytes);
		if (pageCount >= MAX_PAGES) throw new Error('The database is too large to overwrite its unallocated space.');
		const count = Math.min(PAGES_PER_STEP, pageCount - this.#nextPage);
		const pages = Buffer.alloc(Math.max(count, 0) * this.#pageBytes);
		readSync(this.#descriptor, pages, 0, pages.length, this.#nextPage * this.#pageBytes);
		let isChanged = false;
		for (let index = 0; index < count; index++) {
			const isFirst = this.#nextPage + index === 0;
			const page = pages.subarray(index * this.#pageBytes, (index + 1) * this.#pageBytes);
			const range = staleRange(page, isFirst ? FILE_HEADER_BYTES : 0);
			if (range === null) continue;
			const at = (this.#nextPage + index) * this.#pageBytes + range.start;
			writeSync(this.#descriptor, Buffer.alloc(range.end - range.start), 0, undefined, at);
			isChanged = true;
		}
		if (isChanged) fsyncSync(this.#descriptor);
		this.#nextPage += Math.max(count, 0);
		return this.#nextPage < pageCount ? 'more' : 'end';
	}
}
