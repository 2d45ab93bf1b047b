import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { type PagedList, usePages } from '../../api/pages.ts';

export type Report = Resource<'StatisticsReport'>;
export type Figures = Report['total'];
export type UnansweredGroup = Resource<'UnansweredGroup'>;

const DAY_MS = 86_400_000;

/** The ranges that can be chosen, with their days; the first one is shown by hours. */
export const RANGES = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;
export type Range = keyof typeof RANGES;

/** The beginning of the keys of all queries of this page. */
export const OVERVIEW_KEY = ['overview'];

export function reportOf(range: Range, assistantId: string | undefined): QueryObserverOptions<Report> {
	return {
		queryKey: [...OVERVIEW_KEY, 'report', range, assistantId ?? ''],
		queryFn: ({ signal }) => {
			const filter = assistantId === undefined ? {} : { assistant_id: assistantId };
			const query =
				range === '24h'
					? { interval: 'hour' as const, ...filter }
					: { from: new Date(Date.now() - (RANGES[range] - 1) * DAY_MS).toISOString(), ...filter };
			return resultOf(api.GET('/api/v1/stats', { params: { query }, signal }));
		},
	};
}

export function useUnansweredGroups(assistantId: string | undefined): PagedList<UnansweredGroup> {
	return usePages([...OVERVIEW_KEY, 'unanswered', assistantId ?? ''], (cursor, signal) => {
		const query = { ...(assistantId === undefined ? {} : { assistant_id: assistantId }), ...(cursor && { cursor }) };
		return resultOf(api.GET('/api/v1/stats/unanswered', { params: { query }, signal }));
	});
}
