import { timestamp } from '../base/index.ts';
import type { AuditLogRecord, OperationInput, Operations } from '../contract/index.ts';
import type { AuditRecord, ListQuery, Store } from '../store/index.ts';
import { type Handler, RawResponse } from './call.ts';
import { csvLine } from './csv.ts';
import { byCreation, type Cursors } from './cursors.ts';
import { pagesOf } from './pages-of.ts';

export interface AuditLogOptions {
	store: Pick<Store, 'list'>;
	cursors: Cursors;
}

function presentAuditRecord(record: AuditRecord): AuditLogRecord {
	return {
		id: record.id,
		created_at: timestamp(record.created_at),
		actor: { type: record.actor_type, id: record.actor_id, name: record.actor_name },
		action: record.action,
		resource: { type: record.resource_type, id: record.resource_id, name: record.resource_name },
		fields: record.fields,
		details: record.details,
		path: record.path,
		request_id: record.request_id,
		address: record.address,
	};
}

type Filters = Omit<OperationInput<Operations['exportAuditLog']>['query'], 'format'>;

/** The records of a workspace that filters show. */
function recordsOf(
	workspace_id: string,
	{ actor, action, resource, created_after, created_before }: Filters,
): Pick<ListQuery<'audit_log'>, 'where' | 'createdAfter' | 'createdBefore'> {
	return {
		where: { workspace_id, actor_id: actor, action, resource_id: resource },
		createdAfter: created_after === undefined ? undefined : Date.parse(created_after),
		createdBefore: created_before === undefined ? undefined : Date.parse(created_before),
	};
}

type Line = (record: AuditLogRecord) => string;

/** The forms of an export: media type, extension, what comes before the records, and a record as a line. */
const FORMATS: Readonly<Record<'jsonl' | 'csv', { type: string; head: string; line: Line }>> = {
	jsonl: { type: 'application/jsonl', head: '', line: (record) => `${JSON.stringify(record)}\n` },
	csv: {
		type: 'text/csv; charset=utf-8',
		// Without the byte order mark, Excel does not read the file as UTF-8.
		head: `\ufeff${csvLine([
			...['created_at', 'actor_type', 'actor_id', 'actor_name', 'action', 'resource_type', 'resource_id'],
			...['resource_name', 'fields', 'path', 'request_id', 'address', 'id', 'details'],
		])}`,
		line: ({ created_at, actor, action, resource, fields, path, request_id, address, id, details }) =>
			csvLine([
				...[created_at, actor.type, actor.id, actor.name, action, resource.type, resource.id],
				...[resource.name, fields.join(' '), path, request_id, address, id],
				details === null ? '' : JSON.stringify(details),
			]),
	},
};

/** The audit log: read, and exported. */
export function auditLogHandlers({ store, cursors }: AuditLogOptions): {
	listAuditLog: Handler<Operations['listAuditLog']>;
	exportAuditLog: Handler<Operations['exportAuditLog']>;
} {
	return {
		async listAuditLog({ caller, query }) {
			const filter = recordsOf(caller.workspaceId, query);
			const { actor_id, action, resource_id } = filter.where ?? {};
			const filters = [actor_id, action, resource_id, filter.createdAfter, filter.createdBefore];
			const list = `audit log ${caller.workspaceId} ${JSON.stringify(filters)}`;
			const page = cursors.read(list, query);
			const records = await store.list('audit_log', {
				...page,
				limit: page.limit + 1,
				...filter,
			});
			return cursors.page(list, page, records, byCreation, presentAuditRecord);
		},

		async exportAuditLog({ caller, query: { format = 'jsonl', ...filters } }) {
			const { type } = FORMATS[format];
			return new RawResponse({
				headers: [
					['content-type', type],
					['content-disposition', `attachment; filename="audit-log-${caller.workspaceId}.${format}"`],
					['x-content-type-options', 'nosniff'],
					['cache-control', 'no-store'],
				],
				chunks: exportedChunks(store, recordsOf(caller.workspaceId, filters), format),
			});
		},
	};
}

/** The records as a file, in chunks of one page: the memory of an export does not depend on its length. */
async function* exportedChunks(
	store: Pick<Store, 'list'>,
	filter: ReturnType<typeof recordsOf>,
	format: keyof typeof FORMATS,
): AsyncGenerator<string> {
	const { head, line } = FORMATS[format];
	if (head !== '') yield head;
	for await (const page of pagesOf(store, 'audit_log', filter)) {
		yield page.map((record) => line(presentAuditRecord(record))).join('');
	}
}
