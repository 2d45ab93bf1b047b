import type { QueryObserverOptions } from '@tanstack/query-core';
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

/** Whose changes the list can show: people and keys, the first hundred of each. */
export function actors(): QueryObserverOptions<{ value: string; label: string }[]> {
	return {
		queryKey: ['audit-log-actors'],
		queryFn: async ({ signal }) => {
			const options = { params: { query: { limit: 100 } }, signal };
			const [users, keys] = await Promise.all([
				resultOf(api.GET('/api/v1/users', options)),
				resultOf(api.GET('/api/v1/api-keys', options)),
			]);
			return [...users.data, ...keys.data].map(({ id, name }) => ({ value: id, label: name }));
		},
	};
}
