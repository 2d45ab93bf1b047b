import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { InboxFilter, InboxPage, InboxReaderIdentity, InboxRow } from './inbox.ts';
import type { ListPosition } from './list-position.ts';

/** Rows that are read in one step, before the event loop may go on. */
export const ROWS_PER_STEP = 250;
/** Steps of one request. Beyond them the page is short, and its reader continues with the next page. */
const MAX_STEPS = 20;
/** Characters of a preview. */
export const PREVIEW_CHARS = 300;
/** The highest count of messages. */
export const MAX_COUNTED = 100;

/** The position before every item. */
const START: ListPosition = { at: Number.MAX_SAFE_INTEGER, id: '\u{10ffff}' };

/** What one step has read. */
export interface InboxStep<T> {
	items: T[];
	/** Where the next step begins; null: nothing follows. */
	next: ListPosition | null;
}

/** The position of a row in the order of activity. */
export const activityOf = ({ activity_at, conversation_id }: InboxRow): ListPosition => ({
	at: activity_at,
	id: conversation_id,
});

/** Reads in steps until enough rows are found, the end is reached, or the bound of steps. */
export async function collectPage<T, R>(
	readAfter: (position: ListPosition) => Promise<InboxStep<T>>,
	positionOf: (item: T) => ListPosition,
	limit: number,
	after: ListPosition | undefined,
	accept: (item: T) => R | null,
): Promise<InboxPage<R>> {
	const rows: R[] = [];
	let position = after ?? START;
	for (let steps = 0; steps < MAX_STEPS; steps++) {
		if (steps > 0) await yieldToEventLoop();
		const { items, next } = await readAfter(position);
		for (const item of items) {
			const row = accept(item);
			// One more than the page holds: something follows the page.
			if (row !== null && rows.length === limit) return { rows, next: position };
			position = positionOf(item);
			if (row !== null) rows.push(row);
		}
		if (next === null) return { rows, next: null };
		position = next;
	}
	return { rows, next: position };
}

/** Whether a row has what a filter asks for, except its workspace. */
export function matchesFilter(row: InboxRow, filter: InboxFilter, { readBefore }: InboxReaderIdentity): boolean {
	const is = (wanted: boolean | undefined, actual: boolean) => wanted === undefined || wanted === actual;
	const isUnread = row.activity_at > readBefore && (row.read_seq ?? 0) < row.last_seq;
	return (
		row.status === filter.status &&
		is(filter.isWaiting, row.waiting_since !== null) &&
		is(filter.isRatedDown, row.rated_down === 1) &&
		is(filter.isUnanswered, row.unanswered === 1) &&
		is(filter.isUnread, isUnread) &&
		(filter.deploymentId === undefined || filter.deploymentId === row.deployment_id) &&
		(filter.assigneeId === undefined || filter.assigneeId === row.assignee_id)
	);
}
