import { AppError } from '../base/index.ts';
import { EVENT_TYPES, type EventType, type Operations } from '../contract/index.ts';
import type { ListPosition, Store } from '../store/index.ts';
import { presentEvent } from '../webhooks/index.ts';
import type { Handler } from './call.ts';
import type { Cursors } from './cursors.ts';

export interface EventHandlersOptions {
	store: Pick<Store, 'events'>;
	cursors: Cursors;
}

/** The event log of a workspace, for clients that poll or that missed webhook deliveries. */
export function eventHandlers({ store, cursors }: EventHandlersOptions): {
	listEvents: Handler<Operations['listEvents']>;
} {
	return {
		async listEvents({ caller, query: { types: named, ...query } }) {
			const types = named === undefined ? [] : typesOf(named);
			const list = `events ${caller.workspaceId} ${types}`;
			const page = cursors.read(list, query, 'asc');
			// Sequence numbers only grow, and an event becomes visible before all later ones: after the last one nothing is skipped.
			const lastSeenSeq = page.after?.at ?? 0;
			// Read before the page: an event up to here that is not on the page is of another workspace or type.
			const head = await store.events.lastSeq();
			if (page.after) await requireSameLog(page.after, head);
			const events = await store.events.after(caller.workspaceId, lastSeenSeq, page.limit, types);
			const lastListedSeq = events.at(-1)?.seq ?? lastSeenSeq;
			const last = events.length < page.limit ? Math.max(lastListedSeq, head) : lastListedSeq;
			const next_cursor = cursors.cursorAt(list, page, { at: last, id: await eventIdAt(last) });
			return { data: events.map(presentEvent), next_cursor };
		},
	};

	/** The event at a log position, of any workspace (clients cannot read a cursor); empty where it was erased. */
	async function eventIdAt(seq: number): Promise<string> {
		return (await store.events.at(seq))?.id ?? '';
	}

	/**
	 * After a restore from a backup, the database assigns the later log positions a second time. A client that had read them before
	 * would miss the new events.
	 * @throws AppError `invalid_cursor`
	 */
	async function requireSameLog({ at, id }: ListPosition, head: number): Promise<void> {
		const storedId = id === '' ? '' : await eventIdAt(at);
		// Of an erased event only its position is known.
		if (at <= head && (storedId === '' || storedId === id)) return;
		throw new AppError(
			'invalid_cursor',
			'The log was restored from a backup. Read it from the beginning, without a cursor.',
		);
	}
}

/**
 * The types that a query names, each once, in the order of the published list.
 * @throws AppError `invalid_request`
 */
function typesOf(text: string): EventType[] {
	const named = text.split(',').map((name) => name.trim());
	const unknown = named.find((name) => !EVENT_TYPES.some((type) => type === name));
	if (unknown !== undefined) {
		const message = `must be of ${EVENT_TYPES.join(', ')}, separated by commas`;
		throw new AppError('invalid_request', `/types ${message}.`, { details: [{ path: '/types', message }] });
	}
	return EVENT_TYPES.filter((type) => named.includes(type));
}
