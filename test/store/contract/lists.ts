import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { AssistantRecord, ListPosition, ListQuery, Store, Write } from '../../../src/store/index.ts';
import { apiKey, assistant, conversation, deployment, document, message, NOON, session, user } from '../samples.ts';

/** Lists continue from a position, not from a number of rows, so concurrent changes neither repeat nor hide a row. */
export function listContract(opened: () => Store): void {
	test('pages list everything once in both orders, also with equal times of creation', async () => {
		const store = opened();
		const workspace_id = newId('workspace');
		const made = Array.from({ length: 30 }, (_, n) => assistant({ workspace_id, created_at: NOON + (n % 4) }));
		await insert(store, made);
		for (const order of ['desc', 'asc'] as const) {
			const sorted = made.toSorted(byCreation).map(({ id }) => id);
			if (order === 'desc') sorted.reverse();
			for (const limit of [1, 7, 30, 100]) {
				assert.deepEqual(await idsOf(walk(store, { where: { workspace_id }, order, limit })), sorted);
			}
		}
	});

	test('reads many records, and their versions, at once', async () => {
		const store = opened();
		const made = Array.from({ length: 300 }, () => assistant());
		await insert(store, made);
		const changed = made[7]?.id as string;
		await store.commit({ write: [{ op: 'patch', kind: 'assistants', id: changed, set: { name: 'Renamed' } }] });
		const ids = [...made.map(({ id }) => id), newId('assistant')];
		const records = await store.getMany('assistants', ids);
		assert.deepEqual(records.map(({ id }) => id).sort(), ids.slice(0, -1).sort());
		assert.deepEqual(
			records.find(({ id }) => id === changed),
			await store.get('assistants', changed),
		);
		const versions = await store.versionsOf('assistants', ids);
		assert.deepEqual([versions.size, versions.get(changed)], [300, 2]);
		assert.deepEqual([await store.getMany('assistants', []), (await store.versionsOf('assistants', [])).size], [[], 0]);
	});

	test('lists lasting rows once although others are added and removed between pages', async () => {
		const store = opened();
		const workspace_id = newId('workspace');
		const made = Array.from({ length: 60 }, (_, n) => assistant({ workspace_id, created_at: NOON + 10 * n }));
		await insert(store, made);
		const leaving = made.filter((_, n) => n % 3 === 0);
		const staying = made.filter((_, n) => n % 3 !== 0).map(({ id }) => id);
		const seen: string[] = [];
		let page = 0;
		for await (const rows of walk(store, { where: { workspace_id }, order: 'asc', limit: 7 })) {
			seen.push(...rows.map(({ id }) => id));
			const write: Write[] = leaving
				.splice(0, 4)
				.map(({ id }) => ({ op: 'remove' as const, kind: 'assistants' as const, id }));
			for (const created_at of [NOON + 1, NOON + 70 * page + 3, NOON + 70 * (page + 1) + 3]) {
				write.push({ op: 'insert', kind: 'assistants', record: assistant({ workspace_id, created_at }) });
			}
			await store.commit({ write });
			page++;
		}
		assert.equal(new Set(seen).size, seen.length);
		assert.deepEqual(
			seen.filter((id) => staying.includes(id)),
			staying,
		);
	});

	test('finds idle conversations by their last message, the longest idle first, except those with a reply in progress', async () => {
		const store = opened();
		const workspace_id = newId('workspace');
		const idle = (at: number, more: object = {}) => conversation({ workspace_id, last_message_at: at, ...more });
		const [first, silent, twin, writing, busy] = [
			idle(NOON + 1, { created_at: NOON + 9, message_count: 7 }),
			conversation({ workspace_id, created_at: NOON + 2 }),
			idle(NOON + 2),
			idle(NOON + 3, { message_count: 2 }),
			idle(NOON + 4, { created_at: NOON }),
		];
		const elsewhere = conversation({ workspace_id: newId('workspace'), created_at: NOON });
		const said = [
			message({ conversation_id: writing.id, seq: 1 }),
			message({ conversation_id: writing.id, seq: 2, status: 'in_progress' }),
		];
		await store.commit({
			write: [
				...[busy, twin, first, elsewhere, silent, writing].map(
					(record) => ({ op: 'insert', kind: 'conversations', record }) as const,
				),
				...said.map((record) => ({ op: 'insert', kind: 'messages', record }) as const),
			],
		});
		const all = await store.conversations.idle(workspace_id, NOON + 4, undefined, 9);
		const [two, three] = [silent, twin].toSorted((a, b) => (a.id < b.id ? -1 : 1));
		assert.deepEqual(all, [
			{ id: first.id, at: NOON + 1, message_count: 7, deployment_version: 0 },
			{ id: two?.id, at: NOON + 2, message_count: 0, deployment_version: 0 },
			{ id: three?.id, at: NOON + 2, message_count: 0, deployment_version: 0 },
		]);
		assert.deepEqual(await store.conversations.idle(workspace_id, NOON + 4, all[0], 1), all.slice(1, 2));
		assert.deepEqual(await store.conversations.idle(workspace_id, NOON + 4, all[1], 9), all.slice(2));
		await store.commit({
			write: [{ op: 'patch', kind: 'messages', id: said[1]?.id as string, set: { status: 'stopped' } }],
		});
		assert.equal((await store.conversations.idle(workspace_id, NOON + 5, all[2], 9)).length, 2);
	});

	test('the retention of a deployment takes its conversations out of those of the workspace', async () => {
		const store = opened();
		const workspace_id = newId('workspace');
		const of = ({ id }: { id: string }, more: object) =>
			conversation({ workspace_id, deployment_id: id, created_at: NOON, ...more });
		const [own, plain] = [deployment({ workspace_id }), deployment({ workspace_id })];
		assert.equal(await store.conversations.hasDeploymentRetention(workspace_id), false);
		const [old, active, late, second, other] = [
			of(own, { last_message_at: NOON + 1, message_count: 3 }),
			of(own, { last_message_at: NOON + 9 }),
			of(own, { created_at: NOON + 4 }),
			of(own, { created_at: NOON + 1 }),
			of(plain, { last_message_at: NOON + 2 }),
		];
		await store.commit({
			write: [
				...[own, plain].map((record) => ({ op: 'insert', kind: 'deployments', record }) as const),
				...[late, other, active, second, old].map(
					(record) => ({ op: 'insert', kind: 'conversations', record }) as const,
				),
			],
		});
		const idle = async () => (await store.conversations.idle(workspace_id, NOON + 4, undefined, 9)).map(({ id }) => id);
		assert.deepEqual(await idle(), [old.id, second.id, other.id]);
		await store.commit({ write: [{ op: 'patch', kind: 'deployments', id: own.id, set: { retention_days: 7 } }] });
		assert.equal(await store.conversations.hasDeploymentRetention(workspace_id), true);
		assert.equal(await store.conversations.hasDeploymentRetention(newId('workspace')), false);
		assert.deepEqual(await idle(), [other.id]);

		const version = 2;
		const found = await store.conversations.idleInDeployment({ id: own.id, version }, NOON + 4, undefined, 9);
		assert.deepEqual(found, [
			{ id: old.id, at: NOON, message_count: 3, deployment_version: version },
			{ id: second.id, at: NOON + 1, message_count: 0, deployment_version: version },
		]);
		const rest = await store.conversations.idleInDeployment({ id: own.id, version }, NOON + 4, found[0], 9);
		assert.deepEqual(rest, found.slice(1));
	});

	test('filters narrow a list: by field, by absence, by time', async () => {
		const store = opened();
		const workspace_id = newId('workspace');
		const visitor = { id: 'v1', name: null, email: null };
		const made = [
			conversation({ workspace_id, created_at: NOON, status: 'archived', end_user_id: 'v1', end_user: visitor }),
			conversation({ workspace_id, created_at: NOON + 1 }),
			conversation({ workspace_id, created_at: NOON + 2, end_user_id: 'v1', end_user: visitor }),
			conversation({ workspace_id, created_at: NOON + 3 }),
		];
		await store.commit({ write: made.map((record) => ({ op: 'insert', kind: 'conversations', record })) });
		const places = async (query: Partial<ListQuery<'conversations'>>) => {
			const where = { workspace_id, ...query.where };
			const rows = await store.list('conversations', { order: 'asc', limit: 100, ...query, where });
			return rows.map(({ id }) => made.findIndex((one) => one.id === id));
		};
		assert.deepEqual(await places({}), [0, 1, 2, 3]);
		assert.deepEqual(await places({ where: { status: 'archived' } }), [0]);
		assert.deepEqual(await places({ where: { end_user_id: 'v1', status: 'active' } }), [2]);
		assert.deepEqual(await places({ where: { end_user_id: null } }), [1, 3]);
		assert.deepEqual(await places({ where: { end_user_id: undefined } }), [0, 1, 2, 3]);
		assert.deepEqual(await places({ createdAfter: NOON }), [1, 2, 3]);
		assert.deepEqual(await places({ createdAfter: NOON, createdBefore: NOON + 3, order: 'desc' }), [2, 1]);
		await assert.rejects(places({ where: { "1=1 OR ''": 'x' } as never }), /no field/);
	});

	test('lists messages by their number in the conversation, not by time', async () => {
		const store = opened();
		const conversation_id = newId('conversation');
		const made = [3, 1, 2, 5, 4].map((seq) => message({ conversation_id, seq, created_at: NOON - seq }));
		await store.commit({ write: made.map((record) => ({ op: 'insert', kind: 'messages', record })) });
		const list = async (order: 'asc' | 'desc', after?: ListPosition) =>
			(await store.list('messages', { where: { conversation_id }, order, limit: 3, after })).map(({ seq }) => seq);
		assert.deepEqual(await list('asc'), [1, 2, 3]);
		assert.deepEqual(await list('asc', { at: 3, id: made[0]?.id ?? '' }), [4, 5]);
		assert.deepEqual(await list('desc'), [5, 4, 3]);
		assert.deepEqual(
			(await store.conversations.messagesBefore(conversation_id, 4, 2)).map(({ seq }) => seq),
			[2, 3],
		);
		assert.deepEqual(await store.conversations.messagesBefore(conversation_id, 1, 2), []);
		assert.deepEqual(
			await store.conversations.messagesBefore(conversation_id, 2, 2),
			[{ seq: 1, role: 'assistant', content: 'It costs 5 €.\n', status: 'completed' }],
			'what tools gave is not read',
		);
	});

	test('two messages cannot have the same number in a conversation', async () => {
		const store = opened();
		const conversation_id = newId('conversation');
		const add = () =>
			store.commit({ write: [{ op: 'insert', kind: 'messages', record: message({ conversation_id, seq: 1 }) }] });
		await add();
		await assert.rejects(add(), { code: 'unavailable' });
	});

	test('finds unfinished replies', async () => {
		const store = opened();
		const conversation_id = newId('conversation');
		const [open, ended] = [
			message({ conversation_id, seq: 2, status: 'in_progress' }),
			message({ conversation_id, seq: 4, status: 'in_progress' }),
		];
		await store.commit({ write: [open, ended].map((record) => ({ op: 'insert', kind: 'messages', record })) });
		await store.commit({ write: [{ op: 'patch', kind: 'messages', id: ended.id, set: { status: 'stopped' } }] });
		const found = (await store.conversations.unfinishedReplies()).filter(
			(one) => one.conversation_id === conversation_id,
		);
		assert.deepEqual(
			found.map(({ id }) => id),
			[open.id],
		);
	});

	test('finds assistants of a workspace by their knowledge base', async () => {
		const store = opened();
		const [workspace_id, knowledge_base] = [newId('workspace'), newId('knowledge_base')];
		const uses = assistant({ workspace_id, knowledge_base_ids: ['kb_x', knowledge_base] });
		const others = [
			assistant({ workspace_id, knowledge_base_ids: ['kb_x'] }),
			assistant({ workspace_id: newId('workspace'), knowledge_base_ids: [knowledge_base] }),
		];
		await insert(store, [uses, ...others]);
		assert.deepEqual(
			(await store.assistants.withKnowledgeBase(workspace_id, knowledge_base)).map(({ id }) => id),
			[uses.id],
		);
	});

	test('finds a key by its hash, and counts a blob as used while a document has it', async () => {
		const store = opened();
		const key = apiKey();
		const blob = newId('request');
		const record = document({ blob });
		await store.commit({
			write: [
				{ op: 'insert', kind: 'api_keys', record: key },
				{ op: 'insert', kind: 'documents', record },
			],
		});
		assert.equal((await store.access.apiKeyByHash(key.hash))?.id, key.id);
		assert.equal(await store.access.apiKeyByHash('unknown'), undefined);
		assert.equal(await store.documents.isBlobInUse(blob), true);
		await store.commit({ write: [{ op: 'remove', kind: 'documents', id: record.id }] });
		assert.equal(await store.documents.isBlobInUse(blob), false);
	});

	test('counts active assistants and their tools, and finds those that use a tool', async () => {
		const store = opened();
		const workspace_id = newId('workspace');
		assert.deepEqual({ ...(await store.assistants.planUsage(workspace_id)) }, { assistants: 0, tool_attachments: 0 });
		const made = [
			assistant({ workspace_id, tool_ids: ['tool_a', 'tool_b'] }),
			assistant({ workspace_id, tool_ids: ['tool_b'] }),
			assistant({ workspace_id, tool_ids: ['tool_b'], status: 'archived' }),
		];
		await store.commit({ write: made.map((record) => ({ op: 'insert', kind: 'assistants', record })) });
		assert.deepEqual({ ...(await store.assistants.planUsage(workspace_id)) }, { assistants: 2, tool_attachments: 3 });
		assert.deepEqual(
			(await store.assistants.withTool(workspace_id, 'tool_a')).map(({ id }) => id),
			[made[0]?.id],
		);
	});

	test('finds a session by its hash, and a user by the hash of the password link', async () => {
		const store = opened();
		const [signedIn, invited] = [session(), user({ password_link_hash: newId('request') })];
		await store.commit({
			write: [
				{ op: 'insert', kind: 'sessions', record: signedIn },
				{ op: 'insert', kind: 'users', record: invited },
			],
		});
		assert.equal((await store.access.sessionByHash(signedIn.hash))?.id, signedIn.id);
		assert.equal(await store.access.sessionByHash('unknown'), undefined);
		assert.equal((await store.access.userByPasswordLink(invited.password_link_hash ?? ''))?.id, invited.id);
		assert.equal(await store.access.userByPasswordLink('unknown'), undefined);
	});
}

async function insert(store: Store, records: Array<Omit<AssistantRecord, 'version'>>): Promise<void> {
	await store.commit({ write: records.map((record) => ({ op: 'insert', kind: 'assistants', record })) });
}

/** Page by page, as a client with a cursor does. */
async function* walk(store: Store, query: ListQuery<'assistants'>): AsyncGenerator<AssistantRecord[]> {
	let after: ListPosition | undefined;
	for (;;) {
		const rows = await store.list('assistants', { ...query, after });
		const last = rows.at(-1);
		if (!last) return;
		yield rows;
		after = { at: last.created_at, id: last.id };
	}
}

async function idsOf(pages: AsyncIterable<AssistantRecord[]>): Promise<string[]> {
	const ids: string[] = [];
	for await (const rows of pages) ids.push(...rows.map(({ id }) => id));
	return ids;
}

function byCreation(a: { created_at: number; id: string }, b: { created_at: number; id: string }): number {
	return a.created_at - b.created_at || (a.id < b.id ? -1 : 1);
}
