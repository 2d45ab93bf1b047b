import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { InboxFilter, ListPosition, Records, Store, Write } from '../../../src/store/index.ts';
import { message } from '../samples.ts';
import { addTalks, eventAbout, talk } from './talks.ts';

const AT = Date.UTC(2026, 10, 20, 12);

type Message = Omit<Records['messages'], 'version'>;

/** Brings the inbox up to date, at most `limit` events in a commit. */
export async function projectInbox(store: Store, limit = 100): Promise<void> {
	const target = await store.events.lastSeq();
	for (;;) {
		const { seq, isFilled } = await store.inbox.progress();
		if (seq >= target && isFilled) return;
		await store.commit({ write: [{ op: 'inbox.project', limit }] });
	}
}

/** Rows of the inbox are derived from conversations. */
export function inboxContract(opened: () => Store): void {
	const commit = async (...write: Write[]) => {
		assert.equal((await opened().commit({ write })).outcome, 'committed');
	};
	const insert = (record: Message): Write => ({ op: 'insert', kind: 'messages', record });
	const reader = { id: newId('user'), readBefore: 0 };
	const ids = async (given: Partial<InboxFilter> & { workspaceId: string }, readBefore = 0) => {
		const filter = { status: 'active', ...given } as const;
		const { rows } = await opened().inbox.list(filter, { ...reader, readBefore }, undefined, 100);
		return rows.map(({ conversation_id }) => conversation_id);
	};
	/** Fields of a visitor's message, and of a person's reply. */
	const visitor = { role: 'user', author: { type: 'visitor', name: null }, answered_by: null } as const;
	const human = { role: 'assistant', author: { type: 'human', name: '"type":"model"' }, answered_by: null } as const;

	test('a row has the state of its conversation, and follows it', async () => {
		const [made] = [talk(newId('workspace'), AT, { assignee_id: 'user_1', deployment_id: 'dep_1' })];
		await addTalks(opened(), [made]);
		const row = () => opened().inbox.row(made.id, reader.id);
		assert.equal(await row(), undefined, 'it is not derived yet');
		await projectInbox(opened());
		const expected = {
			...{ conversation_id: made.id, workspace_id: made.record.workspace_id, status: 'active', deployment_id: 'dep_1' },
			...{ assignee_id: 'user_1', activity_at: AT + 1_000, last_seq: 2, waiting_since: null },
			...{ rated_down: 0, unanswered: 0, read_seq: null },
		};
		assert.deepEqual({ ...(await row()) }, expected);
		const set = { status: 'archived' as const, assignee_id: null, last_message_at: null };
		await opened().commit({
			write: [{ op: 'patch', kind: 'conversations', id: made.id, set }],
			events: [eventAbout(made.record, 'conversation.archived', {}, AT)],
		});
		await projectInbox(opened());
		assert.deepEqual(
			{ ...(await row()) },
			{ ...expected, ...{ status: 'archived', assignee_id: null, activity_at: AT } },
		);
	});

	test('a row is derived again at once where a change has no event', async () => {
		const made = talk(newId('workspace'), AT);
		await addTalks(opened(), [made]);
		await projectInbox(opened());
		const refresh: Write = { op: 'inbox.refresh', conversation_id: made.id };
		for (const feedback of ['down', 'up'] as const) {
			await commit({ op: 'patch', kind: 'messages', id: made.reply.id, set: { feedback } }, refresh);
			assert.equal((await opened().inbox.row(made.id, reader.id))?.rated_down, feedback === 'down' ? 1 : 0);
		}
		await commit({ op: 'inbox.refresh', conversation_id: newId('conversation') });
	});

	test('a visitor waits since the request for a person, or after a takeover since the first message without a reply', async () => {
		const workspaceId = newId('workspace');
		const asked = { requested_person_at: AT + 9 };
		const talks = [
			talk(workspaceId, AT, asked),
			talk(workspaceId, AT, { ...asked, status: 'archived' }),
			talk(workspaceId, AT, { ...asked, handled_by: 'human' }),
			talk(workspaceId, AT, { handled_by: 'human' }),
			talk(workspaceId, AT),
		];
		const [waiting, archived, answered, unanswered, byModel] = talks as [(typeof talks)[0], ...typeof talks];
		assert.ok(waiting && archived && answered && unanswered && byModel);
		const more = (of: (typeof talks)[0], seq: number, given: Partial<Message>) =>
			insert(message({ workspace_id: workspaceId, conversation_id: of.id, seq, created_at: AT + seq * 10, ...given }));
		await addTalks(opened(), talks);
		await commit(
			...[more(answered, 3, visitor), more(answered, 4, human)],
			...[more(unanswered, 3, visitor), more(unanswered, 4, visitor), more(byModel, 3, visitor)],
		);
		await projectInbox(opened());
		const rows = await Promise.all(talks.map(({ id }) => opened().inbox.row(id, reader.id)));
		assert.deepEqual(
			rows.map((row) => row?.waiting_since),
			[AT + 9, null, null, AT + 30, null],
		);
		assert.deepEqual(new Set(await ids({ workspaceId, isWaiting: true })), new Set([waiting.id, unanswered.id]));
	});

	test('the messages of a visitor that are looked at are the last 50', async () => {
		const made = talk(newId('workspace'), AT, { handled_by: 'human' });
		await addTalks(opened(), [made]);
		const sent = Array.from({ length: 60 }, (_, n) =>
			insert(message({ ...visitor, conversation_id: made.id, seq: n + 3, created_at: AT + n + 3 })),
		);
		await commit(...sent, { op: 'inbox.refresh', conversation_id: made.id });
		assert.equal((await opened().inbox.row(made.id, reader.id))?.waiting_since, AT + 13);
	});

	test('a conversation is unanswered if the last finished reply is the model’s and failed or has no answer', async () => {
		const workspaceId = newId('workspace');
		const replies: Array<[Partial<Message>, 0 | 1]> = [
			[{ answered_by: 'none' }, 1],
			[{ status: 'failed', answered_by: null }, 1],
			[{ status: 'stopped', answered_by: null }, 0],
			[{ answered_by: 'documents' }, 0],
			[{ ...human, status: 'failed' }, 0],
		];
		const talks = replies.map(([reply]) => talk(workspaceId, AT, { reply }));
		const [none] = talks as [(typeof talks)[0]];
		await addTalks(opened(), talks);
		await commit(insert(message({ conversation_id: none.id, seq: 3, status: 'in_progress', answered_by: null })));
		await projectInbox(opened());
		const rows = await Promise.all(talks.map(({ id }) => opened().inbox.row(id, reader.id)));
		assert.deepEqual(
			rows.map((row) => row?.unanswered),
			replies.map(([, expected]) => expected),
		);
		assert.equal((await ids({ workspaceId, isUnanswered: true })).length, 2);
		await commit(insert(message({ ...human, conversation_id: none.id, seq: 4 })));
		await commit({ op: 'inbox.refresh', conversation_id: none.id });
		assert.equal((await opened().inbox.row(none.id, reader.id))?.unanswered, 0);
	});

	test('lists rows of one workspace and status by their activity, page by page, with filters', async () => {
		const workspaceId = newId('workspace');
		const talks = Array.from({ length: 9 }, (_, n) =>
			talk(workspaceId, AT - Math.floor(n / 2) * 1_000, {
				deployment_id: `dep_${n % 2}`,
				assignee_id: n % 3 === 0 ? 'user_1' : null,
				reply: { feedback: n % 4 === 0 ? 'down' : null },
			}),
		);
		await addTalks(opened(), [...talks, talk(workspaceId, AT, { status: 'archived' }), talk(newId('workspace'), AT)]);
		await projectInbox(opened(), 5);
		const order = (wanted: typeof talks) =>
			wanted.toSorted((a, b) => b.reply.created_at - a.reply.created_at || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
		assert.deepEqual(await ids({ workspaceId }), order(talks));
		const filters: Array<[Partial<InboxFilter>, (made: (typeof talks)[0]) => boolean]> = [
			[{ deploymentId: 'dep_1' }, ({ record }) => record.deployment_id === 'dep_1'],
			[{ assigneeId: 'user_1' }, ({ record }) => record.assignee_id === 'user_1'],
			[{ assigneeId: null }, ({ record }) => record.assignee_id === null],
			[{ isRatedDown: true }, ({ reply }) => reply.feedback === 'down'],
			[{ isRatedDown: false, assigneeId: null }, (one) => one.reply.feedback !== 'down' && !one.record.assignee_id],
			[{ isRatedDown: true, deploymentId: 'dep_1' }, () => false],
		];
		for (const [filter, isWanted] of filters) {
			assert.deepEqual(await ids({ workspaceId, ...filter }), order(talks.filter(isWanted)), JSON.stringify(filter));
		}
		for (const limit of [1, 2, 9]) {
			const found: string[] = [];
			let after: ListPosition | null | undefined;
			do {
				const page = await opened().inbox.list({ workspaceId, status: 'active' }, reader, after ?? undefined, limit);
				found.push(...page.rows.map(({ conversation_id }) => conversation_id));
				after = page.next;
			} while (after !== null);
			assert.deepEqual(found, order(talks), `pages of ${limit}`);
		}
	});

	test('what a reader has read is of that reader, and a time before which everything is read counts, too', async () => {
		const workspaceId = newId('workspace');
		const talks = [talk(workspaceId, AT), talk(workspaceId, AT + 10_000)] as const;
		const [older, newer] = talks;
		await addTalks(opened(), talks);
		await projectInbox(opened());
		const unread = (before = 0) => ids({ workspaceId, isUnread: true }, before);
		assert.deepEqual(await unread(), [newer.id, older.id]);
		const read = (conversation_id: string, seq: number, by = reader.id) =>
			commit({ op: 'inbox.read', reader: by, conversation_id, seq });
		await read(newer.id, 2, 'another reader');
		await read(newer.id, 1);
		assert.equal((await opened().inbox.row(newer.id, reader.id))?.read_seq, 1);
		assert.equal((await unread()).length, 2);
		await read(newer.id, 2);
		assert.deepEqual(await unread(), [older.id]);
		assert.deepEqual(await ids({ workspaceId, isUnread: false }), [newer.id]);
		assert.deepEqual(await unread(AT + 1_000), []);
		assert.equal(await opened().inbox.readBefore(reader.id), 0);
		for (const at of [AT, AT + 1]) await commit({ op: 'inbox.read_before', reader: reader.id, at });
		assert.equal(await opened().inbox.readBefore(reader.id), AT + 1);
	});

	test('nothing is stored about the reader of a conversation that was erased meanwhile', async () => {
		const made = talk(newId('workspace'), AT);
		await commit({ op: 'inbox.read', reader: reader.id, conversation_id: made.id, seq: 1 });
		await addTalks(opened(), [made]);
		await projectInbox(opened());
		assert.equal((await opened().inbox.row(made.id, reader.id))?.read_seq, null);
	});

	test('the position reaches the end of the log although its last events were erased', async () => {
		const made = talk(newId('workspace'), AT);
		await addTalks(opened(), [made]);
		await commit({ op: 'erase_conversation', id: made.id });
		await commit({ op: 'inbox.project', limit: 1_000 });
		assert.equal((await opened().inbox.progress()).seq, await opened().events.lastSeq());
	});

	test('a preview is the beginning of the last message, and the messages since a time are counted up to 100', async () => {
		const made = talk(newId('workspace'), AT, { reply: { content: '🧭'.repeat(301) } });
		await addTalks(opened(), [made]);
		const { id, role, author, status, created_at } = made.reply;
		const expected = { id, role, author, text: '🧭'.repeat(300), status, created_at };
		assert.deepEqual({ ...(await opened().inbox.preview(made.id)) }, expected);
		assert.equal(await opened().inbox.preview(newId('conversation')), undefined);
		const more = Array.from({ length: 110 }, (_, n) =>
			insert(message({ conversation_id: made.id, seq: n + 3, created_at: AT + 2_000 + n })),
		);
		await commit(...more);
		assert.equal(await opened().inbox.messagesSince(made.id, AT + 2_099), 10);
		assert.equal(await opened().inbox.messagesSince(made.id, 0), 100);
	});
}
