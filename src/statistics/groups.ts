import { AppError, timestamp, timestampOrNull } from '../base/index.ts';
import type { UnansweredGroup, UnansweredQuery } from '../contract/index.ts';
import {
	expectVersion,
	type UnansweredGroup as GroupSums,
	type ListPosition,
	prepareChange,
	type QuestionGroupRecord,
	type Store,
	type UncommittedChange,
} from '../store/index.ts';

/** How a group of questions is settled. */
export interface Settlement {
	status: 'resolved' | 'dismissed';
	/** The document that answers it. */
	documentId: string | null;
}

const EXAMPLES = 5;

/** A page of groups, and the position of its last one; null on the last page. */
export interface GroupPage {
	groups: UnansweredGroup[];
	next: ListPosition | null;
}

/** The groups of a workspace's questions without an answer, the most frequent first. */
export async function listGroups(
	store: Pick<Store, 'get' | 'statistics'>,
	workspaceId: string,
	{ status = 'open', assistant_id }: Pick<UnansweredQuery, 'status' | 'assistant_id'>,
	{ limit, after }: { limit: number; after: ListPosition | undefined },
): Promise<GroupPage> {
	const filter = { workspaceId, status, assistantId: assistant_id };
	const found = await store.statistics.unansweredGroups({
		...filter,
		limit: limit + 1,
		after: after && groupAt(after),
	});
	const sums = found.slice(0, limit);
	const last = sums.at(-1);
	const shown = sums.map(async (each) => {
		const record = await store.get('question_groups', each.id);
		return record && present(store, record, each);
	});
	const groups = (await Promise.all(shown)).filter((group) => group !== undefined);
	return { groups, next: found.length > limit && last ? positionOf(last) : null };
}

/** The order has three parts; the list position has two. */
function positionOf({ count, last_at, id }: GroupSums): ListPosition {
	return { at: count, id: `${last_at} ${id}` };
}

function groupAt({ at, id }: ListPosition): Pick<GroupSums, 'count' | 'last_at' | 'id'> {
	const [lastAt, groupId] = id.split(' ') as [string, string];
	return { count: at, last_at: Number(lastAt), id: groupId };
}

/**
 * Resolves or dismisses a group.
 * @throws AppError `not_found` also for another workspace's group or document
 */
export function settleGroup(
	store: Store,
	workspaceId: string,
	id: string,
	{ status, documentId }: Settlement,
	now: number,
): UncommittedChange<UnansweredGroup> {
	return prepareChange(store, async () => {
		const record = await store.get('question_groups', id);
		const sums = await store.statistics.unansweredGroup(id);
		if (record?.workspace_id !== workspaceId || !sums) {
			throw new AppError('not_found', 'The group of questions does not exist.');
		}
		const document = documentId === null ? null : await store.get('documents', documentId);
		if (document !== null && document?.workspace_id !== workspaceId) {
			throw new AppError('not_found', 'The document does not exist.');
		}
		const set = { status, document_id: documentId, resolved_at: now, updated_at: now };
		return {
			commit: {
				expect: [expectVersion('question_groups', record)],
				write: [{ op: 'patch', kind: 'question_groups', id, set }],
			},
			result: await present(store, { ...record, ...set }, sums),
		};
	});
}

async function present(
	store: Pick<Store, 'statistics'>,
	{ id, status, document_id, resolved_at }: QuestionGroupRecord,
	{ count, first_at, last_at }: GroupSums,
): Promise<UnansweredGroup> {
	const questions = await store.statistics.questionsOf(id, EXAMPLES);
	return {
		id,
		status,
		question: questions[0]?.question ?? '',
		count,
		first_at: timestamp(first_at),
		last_at: timestamp(last_at),
		examples: questions.map(({ message_id, conversation_id, question, asked_at }) => ({
			message_id,
			conversation_id,
			question,
			asked_at: timestamp(asked_at),
		})),
		document_id,
		resolved_at: timestampOrNull(resolved_at),
	};
}
