import { timestamp } from '../base/index.ts';
import type { AuditLogRecord, Operations } from '../contract/index.ts';
import type { AuditRecord, Store } from '../store/index.ts';
import type { Handler } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

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
		path: record.path,
		request_id: record.request_id,
		address: record.address,
	};
}

/** The audit log: read. */
export function auditLogHandlers({ store, cursors }: AuditLogOptions): {
	listAuditLog: Handler<Operations['listAuditLog']>;
} {
	return {
		async listAuditLog({ caller, query }) {
			const { actor, action, resource } = query;
			const createdAfter = query.created_after === undefined ? undefined : Date.parse(query.created_after);
			const createdBefore = query.created_before === undefined ? undefined : Date.parse(query.created_before);
			const filters = [actor, action, resource, createdAfter, createdBefore];
			const list = `audit log ${caller.workspaceId} ${JSON.stringify(filters)}`;
			const page = cursors.read(list, query);
			const records = await store.list('audit_log', {
				...page,
				limit: page.limit + 1,
				where: { workspace_id: caller.workspaceId, actor_id: actor, action, resource_id: resource },
				createdAfter,
				createdBefore,
			});
			return cursors.page(list, page, records, byCreation, presentAuditRecord);
		},
	};
}
