import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '../base/index.ts';
import type { Page } from '../contract/index.ts';
import type { ListPosition } from '../store/index.ts';

const TAG_BYTES = 16;
const DEFAULT_LIMIT = 20;

/** The query parameters of every list. */
export interface PageQuery {
	limit?: number;
	cursor?: string;
	order?: 'asc' | 'desc';
}

/** A page to read: pass `limit` and `after` to the store. */
export interface PageRequest {
	limit: number;
	order: 'asc' | 'desc';
	after: ListPosition | undefined;
}

/**
 * Cursors of lists: the list position of a page's last item, sealed with a key together with the list and its filters. An altered
 * cursor, or a cursor of another list, is rejected.
 */
export class Cursors {
	readonly #tagKey: Buffer;
	readonly #encryptionKey: Buffer;

	constructor(key: Buffer) {
		this.#tagKey = createHmac('sha256', key).update('parley cursors').digest();
		this.#encryptionKey = createHmac('sha256', key).update('parley cursors, hidden').digest();
	}

	/**
	 * Reads a list's query.
	 * @param list the list and its filters: everything that a cursor is bound to besides the order
	 * @throws AppError `invalid_cursor`
	 */
	read(list: string, query: PageQuery, defaultOrder: 'asc' | 'desc' = 'desc'): PageRequest {
		const order = query.order ?? defaultOrder;
		const after = query.cursor === undefined ? undefined : this.#decode(`${list} ${order}`, query.cursor);
		return { limit: query.limit ?? DEFAULT_LIMIT, order, after };
	}

	/**
	 * Makes a page of the records that the store returned for a limit of one more than the page holds.
	 * @param positionOf the list position of an item
	 */
	page<R, T>(
		list: string,
		{ limit, order }: PageRequest,
		records: readonly R[],
		positionOf: (record: R) => ListPosition,
		present: (record: R) => T,
	): Page<T> {
		const shown = records.slice(0, limit);
		const last = shown.at(-1);
		const next_cursor = records.length > limit && last ? this.#encode(`${list} ${order}`, positionOf(last)) : null;
		return { data: shown.map(present), next_cursor };
	}

	/** A cursor of a list position, for lists that compute it themselves. */
	cursorAt(list: string, { order }: PageRequest, position: ListPosition): string {
		return this.#encode(`${list} ${order}`, position);
	}

	/** The tag is both authentication tag and initial vector (as in RFC 5297): clients can neither read nor forge a position. */
	#encode(list: string, { at, id }: ListPosition): string {
		const position = Buffer.from(JSON.stringify([at, id]));
		const tag = this.#tag(list, position);
		const cipher = createCipheriv('aes-256-ctr', this.#encryptionKey, tag);
		return Buffer.concat([tag, cipher.update(position), cipher.final()]).toString('base64url');
	}

	#decode(list: string, cursor: string): ListPosition {
		const bytes = Buffer.from(cursor, 'base64url');
		const tag = bytes.subarray(0, TAG_BYTES);
		// The decoder skips foreign characters: only the canonical encoding is accepted.
		const isCanonical = bytes.length > TAG_BYTES && bytes.toString('base64url') === cursor;
		if (!isCanonical) throw new AppError('invalid_cursor');
		const decipher = createDecipheriv('aes-256-ctr', this.#encryptionKey, tag);
		const position = Buffer.concat([decipher.update(bytes.subarray(TAG_BYTES)), decipher.final()]);
		if (!timingSafeEqual(tag, this.#tag(list, position))) throw new AppError('invalid_cursor');
		const [at, id] = JSON.parse(position.toString()) as [number, string];
		return { at, id };
	}

	#tag(list: string, position: Buffer): Buffer {
		return createHmac('sha256', this.#tagKey)
			.update(list)
			.update('\0')
			.update(position)
			.digest()
			.subarray(0, TAG_BYTES);
	}
}

/** The list position of most records. */
export function byCreation({ created_at, id }: { created_at: number; id: string }): ListPosition {
	return { at: created_at, id };
}
