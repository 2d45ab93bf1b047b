import { workspaceGuardParts } from '../access/index.ts';
import { AppError, type Clock, mergedFields, newId, timestamp } from '../base/index.ts';
import type { CannedReply, Operations } from '../contract/index.ts';
import { type CannedReplyRecord, expectVersion, prepareChange, requireVersion, type Store } from '../store/index.ts';
import { type Handler, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type CannedReplyOperation =
	| 'listCannedReplies'
	| 'createCannedReply'
	| 'getCannedReply'
	| 'updateCannedReply'
	| 'deleteCannedReply';

export interface CannedReplyHandlersOptions {
	store: Store;
	cursors: Cursors;
	clock: Clock;
}

const MAX_CANNED_REPLIES = 500;

/** A canned reply as the API shows it. */
export function presentCannedReply(record: CannedReplyRecord): CannedReply {
	return {
		id: record.id,
		shortcut: record.shortcut,
		content: record.content,
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
	};
}

/** Canned replies: create, read, change, delete. */
export function cannedReplyHandlers({ store, cursors, clock }: CannedReplyHandlersOptions): {
	[K in CannedReplyOperation]: Handler<Operations[K]>;
} {
	const find = async (workspaceId: string, id: string): Promise<CannedReplyRecord> => {
		const record = await store.get('canned_replies', id);
		if (record?.workspace_id !== workspaceId) throw new AppError('not_found', 'The canned reply does not exist.');
		return record;
	};

	/**
	 * Commit parts that keep shortcuts unique and their number bounded.
	 * @param own the id of the reply that gets the shortcut
	 * @throws AppError `invalid_request` where another reply has it, `plan_limit_exceeded`
	 */
	const requireUnusedShortcut = async (workspace_id: string, shortcut: string, own: string) => {
		const guard = await workspaceGuardParts(store, workspace_id);
		const page = { where: { workspace_id }, order: 'asc', limit: MAX_CANNED_REPLIES } as const;
		const existing = await store.list('canned_replies', page);
		const others = existing.filter(({ id }) => id !== own);
		if (others.length >= MAX_CANNED_REPLIES) {
			throw new AppError('plan_limit_exceeded', `A workspace has at most ${MAX_CANNED_REPLIES} canned replies.`);
		}
		if (!others.some((other) => isSameShortcut(other.shortcut, shortcut))) return guard;
		const details = [{ path: '/shortcut', message: 'is used by another canned reply' }];
		throw new AppError('invalid_request', '/shortcut is used by another canned reply.', { details });
	};

	return {
		async listCannedReplies({ caller, query }) {
			const list = `canned replies ${caller.workspaceId}`;
			const page = cursors.read(list, query);
			const where = { workspace_id: caller.workspaceId };
			const records = await store.list('canned_replies', { ...page, limit: page.limit + 1, where });
			return cursors.page(list, page, records, byCreation, presentCannedReply);
		},

		async createCannedReply({ caller, body, commit }) {
			const now = clock.now();
			const record: CannedReplyRecord = {
				id: newId('canned_reply'),
				version: 1,
				workspace_id: caller.workspaceId,
				...body,
				created_at: now,
				updated_at: now,
			};
			const change = prepareChange(store, async () => {
				const { expect, write } = await requireUnusedShortcut(caller.workspaceId, body.shortcut, record.id);
				return {
					commit: { expect, write: [{ op: 'insert', kind: 'canned_replies', record }, ...write] },
					result: record,
				};
			});
			return commit(change, (created) => withVersion(presentCannedReply(created), created));
		},

		async getCannedReply({ caller, params }) {
			const record = await find(caller.workspaceId, params.id);
			return withVersion(presentCannedReply(record), record);
		},

		updateCannedReply({ caller, params, body, ifMatchVersions, commit }) {
			const change = prepareChange(store, async () => {
				const record = await find(caller.workspaceId, params.id);
				requireVersion(record, ifMatchVersions);
				const guard =
					body.shortcut === undefined
						? { expect: [], write: [] }
						: await requireUnusedShortcut(caller.workspaceId, body.shortcut, record.id);
				const set = { ...mergedFields(record, body), updated_at: clock.now() };
				const write = { op: 'patch', kind: 'canned_replies', id: record.id, set } as const;
				return {
					commit: {
						expect: [expectVersion('canned_replies', record), ...guard.expect],
						write: [write, ...guard.write],
					},
					result: { ...record, ...set, version: record.version + 1 },
				};
			});
			return commit(change, (next) => withVersion(presentCannedReply(next), next));
		},

		deleteCannedReply({ caller, params, ifMatchVersions, commit }) {
			const change = prepareChange(store, async () => {
				const record = await find(caller.workspaceId, params.id);
				requireVersion(record, ifMatchVersions);
				const write = { op: 'remove', kind: 'canned_replies', id: record.id } as const;
				return { commit: { expect: [expectVersion('canned_replies', record)], write: [write] }, result: record };
			});
			return commit(change, ({ id }) => ({ id, deleted: true as const }));
		},
	};
}

function isSameShortcut(one: string, other: string): boolean {
	return one.toLowerCase() === other.toLowerCase();
}
