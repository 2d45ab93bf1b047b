import { type Caller, includesScope } from '../access/index.ts';
import { AppError } from '../base/index.ts';
import { EVENT_TYPES, type EventType, NOTICE_SCOPES, type Operations } from '../contract/index.ts';
import type { Conversations } from '../conversations/index.ts';
import type { Notices, Outbox } from '../outbox/index.ts';
import type { ListPosition, Store } from '../store/index.ts';
import { presentEvent } from '../webhooks/index.ts';
import { type Handler, RawResponse } from './call.ts';
import type { Cursors, PageRequest } from './cursors.ts';
import { EventLogStream } from './event-log-stream.ts';
import { wantsStream } from './stream-request.ts';
import { whileAvailable } from './while-available.ts';

/** Event streams of one workspace's log. */
const MAX_FOLLOWERS = 1_000;

export interface EventHandlersOptions {
	store: Pick<Store, 'events'>;
	outbox: Pick<Outbox, 'subscribe' | 'subscriberCount'>;
	notices: Pick<Notices, 'subscribe'>;
	cursors: Cursors;
	conversations: Pick<Conversations, 'people'>;
}

/** A request for the events of a workspace. */
interface EventQuery {
	caller: Caller;
	/** The types that it gets; empty: all. */
	types: EventType[];
	hasNotices: boolean;
	/** What its cursors are bound to. */
	list: string;
	page: PageRequest;
}

/** The event log of a workspace: pages, and a stream of what follows. */
export function eventHandlers({ store, outbox, notices, cursors, conversations }: EventHandlersOptions): {
	listEvents: Handler<Operations['listEvents']>;
} {
	return {
		async listEvents({ caller, query: { types: named, stream, notices: hasNotices = false, ...query }, request }) {
			const { workspaceId } = caller;
			const types = named === undefined ? [] : typesOf(named);
			const list = `events ${workspaceId} ${types}`;
			const isStream = wantsStream(request, stream);
			const resumed = isStream ? request.header('last-event-id') : undefined;
			const page = cursors.read(list, resumed ? { ...query, cursor: resumed } : query, 'asc');
			if (isStream) {
				const events = await follow({ caller, types, hasNotices, list, page });
				return new RawResponse({ events: whileAvailable(events, caller, conversations.people.availability) });
			}
			// Sequence numbers only grow, and an event becomes visible before all later ones: after the last one nothing is skipped.
			const lastSeenSeq = page.after?.at ?? 0;
			// Read before the page: an event up to here that is not on the page is of another workspace or type.
			const head = await store.events.lastSeq();
			if (page.after) await requireSameLog(page.after, head);
			const events = await store.events.after(workspaceId, lastSeenSeq, page.limit, types);
			const lastListedSeq = events.at(-1)?.seq ?? lastSeenSeq;
			const last = events.length < page.limit ? Math.max(lastListedSeq, head) : lastListedSeq;
			const next_cursor = cursors.cursorAt(list, page, { at: last, id: await eventIdAt(last) });
			return { data: events.map(presentEvent), next_cursor };
		},
	};

	/**
	 * The events after a position as they are committed; without one, from now on.
	 * @throws AppError `rate_limit_exceeded`, `invalid_cursor`
	 */
	async function follow({ caller, types, hasNotices, list, page }: EventQuery): Promise<EventLogStream> {
		const { workspaceId } = caller;
		if (outbox.subscriberCount(workspaceId) >= MAX_FOLLOWERS) throw tooManyFollowers();
		const head = await store.events.lastSeq();
		if (page.after) await requireSameLog(page.after, head);
		const after = page.after ?? { at: head, id: await eventIdAt(head) };
		return new EventLogStream(outbox.subscribe(workspaceId, { seq: after.at, offset: 0 }), {
			types,
			start: cursors.cursorAt(list, page, after),
			positionAfter: ({ seq, id }) => cursors.cursorAt(list, page, { at: seq, id }),
			notices: hasNotices ? notices.subscribe(workspaceId) : null,
			isNoticeWanted: ({ type }) => includesScope(caller.scopes, NOTICE_SCOPES[type]),
		});
	}

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

function tooManyFollowers(): AppError {
	const sentence = `At most ${MAX_FOLLOWERS} clients may follow the events of a workspace at once. Try again in 10 seconds.`;
	return new AppError('rate_limit_exceeded', sentence, { retry_after: 10 });
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
