import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Clock, newId } from '../base/index.ts';
import { expectVersion, type Store, type UnansweredQuestion, type Write } from '../store/index.ts';
import { mostSimilar, termsOf } from './similarity.ts';

type GroupingStore = Pick<Store, 'commit' | 'get' | 'statistics'>;

/** Questions that are grouped before the event loop may go on. */
const STEP = 20;

/**
 * Puts each question without an answer into the group of the questions that ask about the same, or into a new group. Questions are
 * taken in the order in which they were asked, so that the groups do not depend on when this runs.
 */
export async function groupQuestions(store: GroupingStore, clock: Clock): Promise<void> {
	for (;;) {
		const questions = await store.statistics.ungrouped(STEP);
		for (const question of questions) await groupQuestion(store, question, clock.now());
		if (questions.length < STEP) return;
		await yieldToEventLoop();
	}
}

/** A group that was resolved meanwhile is a conflict: the next run puts the question into another group. */
async function groupQuestion(store: GroupingStore, question: UnansweredQuestion, now: number): Promise<void> {
	const terms = termsOf(question.question);
	const known = mostSimilar(terms, await store.statistics.groupTerms(question.workspace_id));
	const group = known === null ? undefined : await store.get('question_groups', known);
	const id = group?.id ?? newId('unanswered');
	const assign: Write = { op: 'statistics.group', message_id: question.message_id, group_id: id, terms };
	if (group) {
		await store.commit({ expect: [expectVersion('question_groups', group)], write: [assign] });
		return;
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
	await store.commit({ write: [{ op: 'insert', kind: 'question_groups', record }, assign] });
}
