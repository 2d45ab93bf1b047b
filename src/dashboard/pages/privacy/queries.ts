import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { type PagedList, usePages } from '../../api/pages.ts';

export type Erasure = Resource<'Erasure'>;
type Conversation = Resource<'Conversation'>;

/** A person, as far as conversations tell. */
export interface EndUser {
	id: string;
	/** Of the newest conversation. */
	name: string | null;
	email: string | null;
	/** The newest conversations. */
	conversations: Conversation[];
	hasMore: boolean;
}

const PAGE_SIZE = 50;
/** Conversations that are counted. */
const MAX_COUNTED = 100;
/** Between two looks at an erasure that runs (ms). */
const POLL_MS = 1_000;

/** What is known about a person; null: nothing. */
export async function findEndUser(id: string): Promise<EndUser | null> {
	const query = { end_user_id: id, limit: MAX_COUNTED };
	const { data, next_cursor } = await resultOf(api.GET('/api/v1/conversations', { params: { query } }));
	const [newest] = data;
	if (newest === undefined) return null;
	const { name = null, email = null } = newest.end_user ?? {};
	return { id, name, email, conversations: data, hasMore: next_cursor !== null };
}

/** The erasures, newest first. */
export function useErasures(): PagedList<Erasure> {
	return usePages<Erasure>(['erasures', 'list'], (cursor, signal) => {
		const query = { limit: PAGE_SIZE, ...(cursor && { cursor }) };
		return resultOf(api.GET('/api/v1/erasures', { params: { query }, signal }));
	});
}

/** One erasure, read again until it is done. */
export function erasureById(id: string): QueryObserverOptions<Erasure> {
	return {
		queryKey: ['erasures', 'one', id],
		queryFn: ({ signal }) => resultOf(api.GET('/api/v1/erasures/{id}', { params: { path: { id } }, signal })),
		refetchInterval: ({ state }) => (state.data?.status === 'done' ? false : POLL_MS),
	};
}
