import type { ListPosition } from '../../readers.ts';

/** The position before every item of a list in order of creation. */
export const LIST_START: ListPosition = { at: 0, id: '' };

/**
 * Repeats a query for each of several values. Each part must end in an order that an index has: then SQLite merges the parts
 * as it reads them (`MERGE (UNION ALL)` in its plan) and reads no more rows than the limit. `IN` would sort all of them.
 */
export function unionAll(sql: string, count: number): string {
	return Array.from({ length: count }, () => sql).join(' UNION ALL ');
}
