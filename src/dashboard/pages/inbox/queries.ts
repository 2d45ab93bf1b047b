import type { QueryObserverOptions } from '@tanstack/query-core';
import { useEffect } from 'preact/hooks';
import { type AllRows, allRows, PAGE_SIZE } from '../../api/all-rows.ts';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { invalidate, useQuery } from '../../api/queries.ts';
import { allDeployments } from '../../api/workspace-lists.ts';

export type Conversation = Resource<'Conversation'>;
export type InboxEntry = Resource<'InboxEntry'>;
export type Message = Resource<'Message'>;

/** What the list shows, as in the address. */
export interface InboxFilters {
	search?: string;
	deployment?: string;
	status?: 'archived';
	unread?: '1';
	waiting?: '1';
	mine?: '1';
	down?: '1';
	unanswered?: '1';
}

export const FILTER_NAMES = [
	'search',
	'deployment',
	'status',
	'unread',
	'waiting',
	'mine',
	'down',
	'unanswered',
] as const;

/** The filters of an address. */
export function filtersOf(query: URLSearchParams): InboxFilters {
	const set = FILTER_NAMES.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : []));
	return Object.fromEntries(set) as InboxFilters;
}

/** A page of the list. @param unread of a list in two sections: which section */
export async function loadPage(
	filters: InboxFilters,
	unread: boolean | undefined,
	cursor: string | null,
	signal: AbortSignal,
): Promise<{ data: InboxEntry[]; next_cursor: string | null }> {
	const query = {
		limit: PAGE_SIZE,
		...(cursor === null ? {} : { cursor }),
		...(filters.search ? { search: filters.search } : {}),
		...(filters.status ? { status: filters.status } : {}),
		...(filters.deployment ? { deployment_id: filters.deployment } : {}),
		...(filters.mine ? { assignee: 'me' } : {}),
		...(unread === undefined ? {} : { unread }),
		...(filters.waiting ? { waiting: true } : {}),
		...(filters.down ? { rated_down: true } : {}),
		...(filters.unanswered ? { unanswered: true } : {}),
	};
	return resultOf(api.GET('/api/v1/inbox', { params: { query }, signal }));
}

export function loadEntry(id: string, signal?: AbortSignal): Promise<InboxEntry> {
	return resultOf(
		api.GET('/api/v1/conversations/{id}/inbox', { params: { path: { id } }, ...(signal ? { signal } : {}) }),
	);
}

/** A deployment's name. The list is loaded again where it lacks the deployment, which may be newer than the list. */
export function useDeploymentName(id: string): string | undefined {
	const { data } = useQuery(allDeployments());
	const found = data?.rows.find((deployment) => deployment.id === id);
	const isMissing = data !== undefined && found === undefined;
	useEffect(() => {
		if (isMissing) void invalidate('deployments', 'list', 'all');
	}, [id, isMissing]);
	return found?.name;
}

/** The people who can take care of a conversation. */
export function assignees(): QueryObserverOptions<AllRows<Resource<'Assignee'>>> {
	return {
		queryKey: ['inbox', 'assignees'],
		queryFn: ({ signal }) =>
			allRows((query) => resultOf(api.GET('/api/v1/inbox/assignees', { params: { query }, signal }))),
	};
}

/** The latest other conversations of a visitor who is known. */
export function conversationsOf(endUserId: string): QueryObserverOptions<Conversation[]> {
	return {
		queryKey: ['inbox', 'visitor', endUserId],
		queryFn: async ({ signal }) => {
			const query = { end_user_id: endUserId, limit: 10 };
			return (await resultOf(api.GET('/api/v1/conversations', { params: { query }, signal }))).data;
		},
	};
}
