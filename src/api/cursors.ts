import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '../base/index.ts';
import type { Page } from '../contract/index.ts';
import type { ListPosition } from '../store/index.ts';

const TAG_BYTES = 16;
const DEFAULT_LIMIT = 20;

/** What every list's query may hold. */
export interface PageQuery {
	limit?: number;
	cursor?: string;
	order?: 'asc' | 'desc';
}

/** A page to be read: hand `limit` and `after` to the store. */
export interface PageRequest {
	limit: number;
	order: 'asc' | 'desc';
	after: ListPosition | undefined;
}

/**
 * Cursors of lists: the place of a page's last item, sealed with a key together with the list and its filters, so that one
 * that was altered, or that belongs to another list, is refused.
 */
export class Cursors {
	readonly #key: Buffer;
	readonly #hiding: Buffer;

	constructor(key: Buffer) {
		this.#key = createHmac('sha256', key).update('parley cursors').digest();
		this.#hiding = createHmac('sha256', key).update('parley cursors, hidden').digest();
	}

	/**
	 * Reads a list's query.
	 * @param list the list and its filters: everything that a cursor is bound to besides the order
	 * @throws AppError `invalid_cursor`
	 */
	read(list: string, query: PageQuery, defaultOrder: 'asc' | 'desc' = 'desc'): PageRequest {
		const order = query.order ?? defaultOrder;
		const after = query.cursor === undefined ? undefined : this.#open(`${list} ${order}`, query.cursor);
		return { limit: query.limit ?? DEFAULT_LIMIT, order, after };
	}

	/**
	 * Makes a page of what the store gave for one item more than the page holds.
	 * @param place where an item is in the list
	 */
	page<R, T>(
		list: string,
		{ limit, order }: PageRequest,
		records: readonly R[],
		place: (record: R) => ListPosition,
		present: (record: R) => T,
	): Page<T> {
		const shown = records.slice(0, limit);
		const last = shown.at(-1);
		const next_cursor = records.length > limit && last ? this.#seal(`${list} ${order}`, place(last)) : null;
		return { data: shown.map(present), next_cursor };
	}

	/** A cursor of a place in a list, for lists that tell themselves where to go on. */
	at(list: string, { order }: PageRequest, place: ListPosition): string {
		return this.#seal(`${list} ${order}`, place);
	}

	/** The tag is both seal and initial vector (as in RFC 5297): nobody else reads where a place is, or makes one up. */
	#seal(list: string, { at, id }: ListPosition): string {
		const place = Buffer.from(JSON.stringify([at, id]));
		const tag = this.#tag(list, place);
		const cipher = createCipheriv('aes-256-ctr', this.#hiding, tag);
		return Buffer.concat([tag, cipher.update(place), cipher.final()]).toString('base64url');
	}

	#open(list: string, cursor: string): ListPosition {
		const bytes = Buffer.from(cursor, 'base64url');
		const tag = bytes.subarray(0, TAG_BYTES);
		// The decoder passes over foreign characters: only the text that we would write ourselves is ours.
		const ours = bytes.length > TAG_BYTES && bytes.toString('base64url') === cursor;
		if (!ours) throw new AppError('invalid_cursor');
		const decipher = createDecipheriv('aes-256-ctr', this.#hiding, tag);
		const place = Buffer.concat([decipher.update(bytes.subarray(TAG_BYTES)), decipher.final()]);
		if (!timingSafeEqual(tag, this.#tag(list, place))) throw new AppError('invalid_cursor');
		const [at, id] = JSON.parse(place.toString()) as [number, string];
		return { at, id };
	}

	#tag(list: string, place: Buffer): Buffer {
		return createHmac('sha256', this.#key).update(list).update('\0').update(place).digest().subarray(0, TAG_BYTES);
	}
}

/** Where most records are in their lists. */
export function byCreation({ created_at, id }: { created_at: number; id: string }): ListPosition {
	return { at: created_at, id };
}
