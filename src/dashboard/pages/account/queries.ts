import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf } from '../../api/client.ts';

export type OwnSession = Resource<'OwnSession'>;

/** The sessions of the signed-in user. */
export function ownSessions(): QueryObserverOptions<OwnSession[]> {
	return {
		queryKey: ['account', 'sessions'],
		queryFn: async ({ signal }) =>
			(await resultOf(api.GET('/api/v1/sessions', { params: { query: { limit: 100 } }, signal }))).data,
	};
}
