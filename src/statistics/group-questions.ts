import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Clock, newId } from '../base/index.ts';
import {
	expectVersion,
	fenced,
	type ShardFence,
	type Store,
	type UnansweredQuestion,
	type Write,
} from '../store/index.ts';
import { mostSimilar, termsOf } from './similarity.ts';

type GroupingStore = Pick<Store, 'commit' | 'get' | 'statistics'>;

/** Questions that are grouped before the event loop may go on. */
const STEP = 20;

/**
 * Puts each question without an answer into the group of the questions that ask about the same, or into a new group. Questions are
 * taken in the order in which they were asked, so that the groups do not depend on when this runs.
 * @param fence of the node that does this: two at once would make two groups for the same question
 */
export async function groupQuestions(store: GroupingStore, clock: Clock, fence?: ShardFence): Promise<void> {
	for (;;) {
		const questions = await store.statistics.ungrouped(STEP);
		for (const question of questions) {
			if (!(await groupQuestion(store, question, clock.now(), fence))) return;
		}
		if (questions.length < STEP) return;
		await yieldToEventLoop();
	}
}

/**
 * A group that was resolved meanwhile is a conflict: the next run puts the question into another group.
 * @returns false where another node does this now
 */
async function groupQuestion(
	store: GroupingStore,
	question: UnansweredQuestion,
	now: number,
	fence: ShardFence | undefined,
): Promise<boolean> {
	const terms = termsOf(question.question);
	const known = mostSimilar(terms, await store.statistics.groupTerms(question.workspace_id));
	const group = known === null ? undefined : await store.get('question_groups', known);
	const id = group?.id ?? newId('unanswered');
	const assign: Write = { op: 'statistics.group', message_id: question.message_id, group_id: id, terms };
	if (group) {
		const expect = [expectVersion('question_groups', group)];
		return (await store.commit({ ...fenced(fence), expect, write: [assign] })).outcome !== 'fenced';
	}
	const record = {
		id,
		workspace_id: question.workspace_id,
		status: 'open' as const,
		document_id: null,
		resolved_at: null,
		created_at: question.asked_at,
		updated_at: now,
	};
	const write: Write[] = [{ op: 'insert', kind: 'question_groups', record }, assign];
	return (await store.commit({ ...fenced(fence), write })).outcome !== 'fenced';
}
