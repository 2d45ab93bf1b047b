import { AppError, timestamp } from '../base/index.ts';
import type { Erasure, Operations } from '../contract/index.ts';
import type { EndUserErasures } from '../privacy/index.ts';
import { completeErasureCounts, type ErasureRecord, type Store } from '../store/index.ts';
import type { Handler } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

export interface ErasureHandlersOptions {
	store: Store;
	erasures: Pick<EndUserErasures, 'request'>;
	cursors: Cursors;
}

const timeOf = (at: number | null) => (at === null ? null : timestamp(at));

function presentErasure(record: ErasureRecord): Erasure {
	const { id, status, counts, created_at, erased_at, completed_at, backups } = record;
	return {
		id,
		status,
		counts: completeErasureCounts(counts),
		created_at: timestamp(created_at),
		erased_at: timeOf(erased_at),
		completed_at: timeOf(completed_at),
		backups: backups && {
			backups_gone_at: timeOf(backups.backups_gone_at),
			upgrade_copies_gone_at: timeOf(backups.upgrade_copies_gone_at),
		},
	};
}

/** Erasures of end users: start, read. */
export function erasureHandlers({ store, erasures, cursors }: ErasureHandlersOptions): {
	[K in 'eraseEndUser' | 'listErasures' | 'getErasure']: Handler<Operations[K]>;
} {
	return {
		eraseEndUser({ caller, body, commit }) {
			return commit(erasures.request(caller.workspaceId, body.end_user_id), presentErasure);
		},

		async listErasures({ caller, query }) {
			const list = `erasures ${caller.workspaceId}`;
			const page = cursors.read(list, query);
			const where = { workspace_id: caller.workspaceId };
			const records = await store.list('erasures', { ...page, limit: page.limit + 1, where });
			return cursors.page(list, page, records, byCreation, presentErasure);
		},

		async getErasure({ caller, params }) {
			const record = await store.get('erasures', params.id);
			if (record?.workspace_id !== caller.workspaceId) throw new AppError('not_found', 'The erasure does not exist.');
			return presentErasure(record);
		},
	};
}
