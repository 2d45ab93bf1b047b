import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { invalidate, queryClient } from '../../api/queries.ts';

export type CannedReply = Resource<'CannedReply'>;

const PAGE_SIZE = 100;

/** All canned replies of the workspace, by shortcut. */
export function cannedReplyList(): QueryObserverOptions<CannedReply[]> {
	return {
		queryKey: ['canned-replies', 'list'],
		queryFn: async ({ signal }) => {
			const replies: CannedReply[] = [];
			for (let cursor: string | null | undefined; cursor !== null; ) {
				const query = { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
				const page = await resultOf(api.GET('/api/v1/canned-replies', { params: { query }, signal }));
				replies.push(...page.data);
				cursor = page.next_cursor ?? null;
			}
			return replies.sort((a, b) => a.shortcut.localeCompare(b.shortcut));
		},
	};
}

export function cannedReplyById(id: string): QueryObserverOptions<Versioned<CannedReply>> {
	return {
		queryKey: ['canned-replies', 'one', id],
		queryFn: ({ signal }) =>
			versionedResultOf(api.GET('/api/v1/canned-replies/{id}', { params: { path: { id } }, signal })),
	};
}

/** Shows another version of a canned reply everywhere. */
export function keepCannedReply(reply: Versioned<CannedReply>): void {
	queryClient.setQueryData(cannedReplyById(reply.value.id).queryKey, reply);
	void invalidate('canned-replies', 'list');
}
