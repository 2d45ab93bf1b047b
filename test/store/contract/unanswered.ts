import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { QuestionGroupRecord, Store, Write } from '../../../src/store/index.ts';
import { message } from '../samples.ts';
import { addTalks, eventAbout, talk } from './talks.ts';

const START = Date.UTC(2021, 11, 1, 9);
const MAX_QUESTIONS = 2_000;

/** Questions without an answer are stored with the figures, and put into groups. */
export function unansweredContract(opened: () => Store): void {
	const commit = async (...write: Write[]) => {
		assert.equal((await opened().commit({ write })).outcome, 'committed');
	};
	const projectAll = async () => {
		const target = await opened().events.lastSeq();
		while ((await opened().statistics.position()) < target) await commit({ op: 'statistics.project', limit: 500 });
	};
	/** Asks at the given times (ms after the start). Returns the talks. */
	const ask = async (workspaceId: string, times: number[], assistant_id = 'asst_1') => {
		const talks = times.map((at) =>
			talk(workspaceId, START + at, {
				assistant_id,
				question: { content: `Question ${at}?` },
				reply: { answered_by: 'none' },
			}),
		);
		await addTalks(opened(), talks);
		await projectAll();
		return talks;
	};
	const newGroup = (workspace_id: string, given: Partial<QuestionGroupRecord> = {}): Write & { id: string } => {
		const id = newId('unanswered');
		const times = { resolved_at: null, created_at: START, updated_at: START };
		const record = { id, workspace_id, status: 'open' as const, document_id: null, ...times, ...given };
		return { op: 'insert', kind: 'question_groups', record, id } as Write & { id: string };
	};
	const assign = (talks: Awaited<ReturnType<typeof ask>>, group_id: string, terms = ['a']): Write[] =>
		talks.map(({ reply }) => ({ op: 'statistics.group', message_id: reply.id, group_id, terms }));
	const ungrouped = async (workspaceId: string) => {
		const all = await opened().statistics.ungrouped(10_000);
		return all.filter(({ workspace_id }) => workspace_id === workspaceId);
	};

	test('the question of a reply without an answer is stored once, its beginning, the oldest first', async () => {
		const workspaceId = newId('workspace');
		const [late, early] = await ask(workspaceId, [20, 10]);
		const long = talk(workspaceId, START + 30, {
			question: { content: '🧭'.repeat(501) },
			reply: { answered_by: 'none' },
		});
		const answered = talk(workspaceId, START + 40, {
			reply: { answered_by: 'documents', content: '"answered_by":"none"' },
		});
		await addTalks(opened(), [long, answered]);
		await projectAll();
		await commit({ op: 'statistics.rebuild' });
		await projectAll();
		assert.ok(late && early);
		const questionOf = ({ id, reply, record, question }: typeof early) => ({
			...{ message_id: reply.id, workspace_id: workspaceId, conversation_id: id, assistant_id: record.assistant_id },
			...{ question: question.content, asked_at: question.created_at },
		});
		assert.deepEqual(await ungrouped(workspaceId), [
			questionOf(early),
			questionOf(late),
			{ ...questionOf(long), question: '🧭'.repeat(500) },
		]);
	});

	test('a question is the last of the visitor before the reply', async () => {
		const workspaceId = newId('workspace');
		const [asked] = await ask(workspaceId, [0]);
		assert.ok(asked);
		const base = { workspace_id: workspaceId, conversation_id: asked.id };
		const question = message({ ...base, seq: 3, role: 'user', content: 'And then?', created_at: START + 50 });
		const reply = message({ ...base, seq: 4, answered_by: 'none', created_at: START + 51 });
		const write = [question, reply].map((record): Write => ({ op: 'insert', kind: 'messages', record }));
		await opened().commit({ write, events: [eventAbout(asked.record, 'message.created', reply, START + 51)] });
		await projectAll();
		assert.deepEqual(
			(await ungrouped(workspaceId)).map(({ message_id, question: text }) => [message_id, text]),
			[
				[asked.reply.id, 'Question 0?'],
				[reply.id, 'And then?'],
			],
		);
	});

	test('groups are listed by the number of questions, then the latest, page by page', async () => {
		const workspaceId = newId('workspace');
		const three = newGroup(workspaceId);
		const [two, one, alsoOne, done] = [1, 2, 3, 4].map(() => newGroup(workspaceId)) as (Write & { id: string })[];
		assert.ok(two && one && alsoOne && done);
		await commit(three, ...assign(await ask(workspaceId, [1, 2, 3]), three.id, ['price', 'late']));
		await commit(two, ...assign(await ask(workspaceId, [6, 5], 'asst_2'), two.id));
		await commit(one, ...assign(await ask(workspaceId, [4]), one.id));
		await commit(alsoOne, ...assign(await ask(workspaceId, [7]), alsoOne.id));
		await commit(done, ...assign(await ask(workspaceId, [8]), done.id));
		await commit({
			op: 'patch',
			kind: 'question_groups',
			id: done.id,
			set: { status: 'resolved', resolved_at: START },
		});
		const { statistics } = opened();
		const open = { workspaceId, status: 'open' } as const;
		const whole = await statistics.unansweredGroups({ ...open, limit: 10 });
		assert.deepEqual(whole, [
			{ id: three.id, count: 3, first_at: START + 1, last_at: START + 3 },
			{ id: two.id, count: 2, first_at: START + 5, last_at: START + 6 },
			{ id: alsoOne.id, count: 1, first_at: START + 7, last_at: START + 7 },
			{ id: one.id, count: 1, first_at: START + 4, last_at: START + 4 },
		]);
		for (const [index, after] of whole.entries()) {
			assert.deepEqual(
				await statistics.unansweredGroups({ ...open, after, limit: 2 }),
				whole.slice(index + 1, index + 3),
			);
		}
		const ids = async (given: object) =>
			(await statistics.unansweredGroups({ ...open, limit: 10, ...given })).map(({ id }) => id);
		assert.deepEqual(await ids({ assistantId: 'asst_2' }), [two.id]);
		assert.deepEqual(await ids({ status: 'resolved' }), [done.id]);
		assert.deepEqual(await statistics.unansweredGroup(two.id), whole[1]);
		const questions = (await statistics.questionsOf(three.id, 2)).map(({ question }) => question);
		assert.deepEqual(questions, ['Question 3?', 'Question 2?']);
		const terms = await statistics.groupTerms(workspaceId);
		assert.deepEqual(
			terms.find(({ group_id }) => group_id === three.id),
			{ group_id: three.id, terms: ['price', 'late'] },
		);
		assert.deepEqual(new Set(terms.map(({ group_id }) => group_id)), new Set(whole.map(({ id }) => id)));
	});

	test('a question stays in the group that it was put into first', async () => {
		const workspaceId = newId('workspace');
		const talks = await ask(workspaceId, [1, 2]);
		const [first, second] = [newGroup(workspaceId), newGroup(workspaceId)];
		await commit(first, ...assign(talks, first.id, ['first']));
		await commit(second, ...assign(talks, second.id, ['second']));
		assert.equal((await opened().statistics.unansweredGroup(first.id))?.count, 2);
		assert.equal(await opened().statistics.unansweredGroup(second.id), undefined);
		assert.deepEqual(await ungrouped(workspaceId), []);
	});

	test('an erased conversation takes its questions with it, and the groups that have no other', async () => {
		const workspaceId = newId('workspace');
		const [a, b, c] = await ask(workspaceId, [1, 2, 3]);
		assert.ok(a && b && c);
		const [shared, own] = [newGroup(workspaceId), newGroup(workspaceId)];
		await commit(shared, own, ...assign([a, b], shared.id), ...assign([c], own.id));
		for (const { id } of [a, c]) await opened().commit({ write: [{ op: 'erase_conversation', id }] });
		assert.equal((await opened().statistics.unansweredGroup(shared.id))?.count, 1);
		const records = await Promise.all([shared, own].map(({ id }) => opened().get('question_groups', id)));
		assert.deepEqual(
			records.map((record) => record?.id),
			[shared.id, undefined],
		);
	});

	test('the newest questions of a workspace are kept, and the groups of the others are removed', async () => {
		const workspaceId = newId('workspace');
		const [oldest] = await ask(workspaceId, [0]);
		const group = newGroup(workspaceId);
		await commit(group, ...assign(oldest ? [oldest] : [], group.id));
		for (let at = 1; at <= MAX_QUESTIONS; at += 500) {
			await ask(
				workspaceId,
				Array.from({ length: 500 }, (_, n) => at + n),
			);
		}
		const left = await ungrouped(workspaceId);
		assert.equal(left.length, MAX_QUESTIONS);
		assert.equal(left[0]?.asked_at, START + 1);
		assert.equal(await opened().get('question_groups', group.id), undefined);
	});
}
