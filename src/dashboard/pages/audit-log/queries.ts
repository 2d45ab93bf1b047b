import type { QueryObserverOptions } from '@tanstack/query-core';
import { type AllRows, allRows } from '../../api/all-rows.ts';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { type PagedList, usePages } from '../../api/pages.ts';

export type AuditRecord = Resource<'AuditLogRecord'>;

/** What the list shows. Each filter is a part of the address. */
export interface AuditFilters {
	actor?: string;
	action?: string;
	resource?: string;
	/** Only changes of the last days. */
	days?: number;
}

const PAGE_SIZE = 50;
const HOUR_MS = 3_600_000;

/** The records of the audit log, newest first. */
export function useAuditLog({ days, ...filters }: AuditFilters): PagedList<AuditRecord> {
	// To the hour: all pages of a list have the same filters.
	const since = days === undefined ? null : Math.floor(Date.now() / HOUR_MS - days * 24) * HOUR_MS;
	const key = ['audit-log', filters.actor, filters.action, filters.resource, since];
	return usePages<AuditRecord>(key, (cursor, signal) => {
		const query = {
			limit: PAGE_SIZE,
			...filters,
			...(since !== null && { created_after: new Date(since).toISOString() }),
			...(cursor && { cursor }),
		};
		return resultOf(api.GET('/api/v1/audit-log', { params: { query }, signal }));
	});
}

/** Whose changes the list can show: people and keys. */
export function actors(): QueryObserverOptions<AllRows<{ id: string; name: string }>> {
	return {
		queryKey: ['audit-log-actors'],
		queryFn: async ({ signal }) => {
			const [users, keys] = await Promise.all([
				allRows((query) => resultOf(api.GET('/api/v1/users', { params: { query }, signal }))),
				allRows((query) => resultOf(api.GET('/api/v1/api-keys', { params: { query }, signal }))),
			]);
			return { rows: [...users.rows, ...keys.rows], isComplete: users.isComplete && keys.isComplete };
		},
	};
}
