/** One page of a list of the API. */
export interface ListPage<T> {
	data: T[];
	next_cursor?: string | null;
}

/** The largest page that the API gives. */
export const PAGE_SIZE = 100;
/** The most rows that a choice offers or a text names. */
export const MAX_ROWS = 1_000;

/** All rows of a list of the API, or the first `MAX_ROWS`. */
export interface AllRows<T> {
	rows: T[];
	/** False: the list has more rows. */
	isComplete: boolean;
}

/** Reads a list page by page, up to `MAX_ROWS`. @param load one page */
export async function allRows<T>(
	load: (query: { limit: number; cursor?: string }) => Promise<ListPage<T>>,
): Promise<AllRows<T>> {
	const rows: T[] = [];
	let cursor: string | null | undefined;
	do {
		const page = await load({ limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) });
		rows.push(...page.data);
		cursor = page.next_cursor;
	} while (cursor && rows.length < MAX_ROWS);
	return { rows, isComplete: !cursor };
}
