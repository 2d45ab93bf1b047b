import { newId, timestamp } from '../base/index.ts';
import {
	type BackupExpiry,
	type Commit,
	completeErasureCounts,
	type ErasureRecord,
	expectVersion,
	type Store,
} from '../store/index.ts';

/** The operation whose record in the audit log names who requested an erasure. */
const REQUEST_ACTION = 'eraseEndUser';
/** The action of the record with the receipt. */
const COMPLETION_ACTION = 'completeErasure';

/** The commit that completes an erasure, with its receipt in the audit log under the name of who requested it. */
export async function completionCommit(
	store: Pick<Store, 'list'>,
	erasure: ErasureRecord,
	backups: BackupExpiry,
	now: number,
): Promise<Commit> {
	const { id, workspace_id, counts, erased_at } = erasure;
	const [request] = await store.list('audit_log', {
		where: { workspace_id, resource_id: id, action: REQUEST_ACTION },
		order: 'asc',
		limit: 1,
	});
	const timeOf = (at: number | null) => (at === null ? null : timestamp(at));
	const details = {
		counts: completeErasureCounts(counts),
		erased_at: timeOf(erased_at),
		completed_at: timestamp(now),
		backups_gone_at: timeOf(backups.backups_gone_at),
		upgrade_copies_gone_at: timeOf(backups.upgrade_copies_gone_at),
	};
	const set = { status: 'done' as const, completed_at: now, backups, updated_at: now };
	const receipt = request && {
		...request,
		id: newId('audit_record'),
		action: COMPLETION_ACTION,
		fields: [],
		details,
		created_at: now,
		expires_at: now + (request.expires_at - request.created_at),
	};
	return {
		expect: [expectVersion('erasures', erasure)],
		write: [
			{ op: 'patch', kind: 'erasures', id, set },
			...(receipt ? [{ op: 'insert', kind: 'audit_log', record: receipt } as const] : []),
		],
	};
}
