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
	const since = sinceOf(days);
	const key = ['audit-log', filters.actor, filters.action, filters.resource, since];
	return usePages<AuditRecord>(key, (cursor, signal) => {
		const query = {
			limit: PAGE_SIZE,
			...filters,
			...(since !== null && { created_after: since }),
			...(cursor && { cursor }),
		};
		return resultOf(api.GET('/api/v1/audit-log', { params: { query }, signal }));
	});
}

/** The path of a file with the records that the filters show. */
export function exportPath({ days, ...filters }: AuditFilters, format: 'csv' | 'jsonl'): string {
	const since = sinceOf(days);
	const query = new URLSearchParams({ format, ...filters, ...(since !== null && { created_after: since }) });
	return `api/v1/audit-log/export?${query}`;
}

/** The time from which records are shown, to the hour: all pages of a list have the same filters. */
function sinceOf(days: number | undefined): string | null {
	return days === undefined ? null : new Date(Math.floor(Date.now() / HOUR_MS - days * 24) * HOUR_MS).toISOString();
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
