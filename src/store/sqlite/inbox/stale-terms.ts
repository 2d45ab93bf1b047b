import type { Database } from 'better-sqlite3';

/** Pages of the index that one step merges. */
const MERGE_PAGES = 64;
/** Separators that one step examines. */
const SEPARATORS_PER_STEP = 200;
/** Before each term of the index itself, as opposed to those of prefix indexes. */
const TERM_MARK = 0x30;

interface Separator {
	segid: number;
	term: Buffer;
}

const BEFORE_ALL: Separator = { segid: -1, term: Buffer.alloc(0) };

/**
 * Words of erased messages that stay in the index of messages. Deleting removes a word's entries from the leaves of the index, but
 * the word may separate two leaves, and the separator stays until the leaves are merged.
 */
export class StaleTerms {
	readonly #db: Database;
	#examined: Separator = BEFORE_ALL;
	#isMerging = false;

	constructor(db: Database) {
		this.#db = db;
		db.exec("CREATE VIRTUAL TABLE IF NOT EXISTS temp.message_terms USING fts5vocab('main', 'message_search', 'row')");
	}

	/** Begins with the first separator again. */
	restart(): void {
		this.#examined = BEFORE_ALL;
	}

	/** Examines the next separators. From the first on that is no word of a message, it rewrites the index in steps. Returns whether there is more to do. */
	eraseNext(): boolean {
		if (this.#isMerging) {
			this.#isMerging = this.#merge(MERGE_PAGES);
			return this.#isMerging;
		}
		const separators = this.#db
			.prepare('SELECT segid, term FROM message_search_idx WHERE (segid, term) > (?, ?) ORDER BY segid, term LIMIT ?')
			.all(this.#examined.segid, this.#examined.term, SEPARATORS_PER_STEP) as Separator[];
		if (separators.some(({ term }) => this.#isStale(Buffer.from(term)))) {
			// A negative number begins to merge all segments into one; positive ones continue.
			this.#isMerging = this.#merge(-MERGE_PAGES);
			return this.#isMerging;
		}
		this.#examined = separators.at(-1) ?? this.#examined;
		return separators.length === SEPARATORS_PER_STEP;
	}

	/** Returns whether there is more to merge: FTS5 reports the end by fewer than two changes. */
	#merge(pages: number): boolean {
		const changes = this.#db.prepare('SELECT total_changes()').pluck();
		const before = changes.get() as number;
		this.#db.prepare("INSERT INTO message_search (message_search, rank) VALUES ('merge', ?)").run(pages);
		return (changes.get() as number) - before >= 2;
	}

	/** Whether no word of a message begins with the separator, which is a part of a word. */
	#isStale(separator: Buffer): boolean {
		if (separator.length < 2 || separator[0] !== TERM_MARK) return false;
		// The separator may end within a character.
		const part = separator
			.subarray(1)
			.toString()
			.replace(/\ufffd+$/, '');
		const next = this.#db.prepare('SELECT term FROM temp.message_terms WHERE term >= ? LIMIT 1').pluck().get(part) as
			| string
			| undefined;
		return next?.startsWith(part) !== true;
	}
}
