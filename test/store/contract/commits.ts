import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import { type Commit, decideAndCommit, type Kind, type Records, type Store } from '../../../src/store/index.ts';
import {
	apiKey,
	assistant,
	auditRecord,
	budgetNotice,
	cannedReply,
	conversation,
	delivery,
	deliveryAttempt,
	deployment,
	document,
	erasure,
	event,
	knowledgeBase,
	message,
	NOON,
	note,
	questionGroup,
	replyCall,
	replyRound,
	session,
	source,
	sourcePage,
	tool,
	user,
	webhook,
	workspace,
} from '../samples.ts';

/** Commits are atomic, and each decision uses the current records. */
export function commitContract(opened: () => Store): void {
	test('a record of every kind is read back as it was written, as version 1', async () => {
		const store = opened();
		const samples: { [K in Kind]: Omit<Records[K], 'version'> } = {
			server_facts: { id: newId('request'), value: 'known', created_at: NOON },
			workspaces: workspace(),
			api_keys: apiKey(),
			users: user(),
			sessions: session(),
			audit_log: auditRecord(),
			workspace_guards: { id: newId('workspace'), created_at: NOON },
			tools: tool(),
			webhooks: webhook(),
			deliveries: delivery(),
			delivery_attempts: deliveryAttempt(),
			assistants: assistant(),
			knowledge_bases: knowledgeBase(),
			documents: document(),
			sources: source(),
			source_pages: sourcePage(),
			deployments: deployment(),
			conversations: conversation(),
			messages: message({ conversation_id: newId('conversation') }),
			question_groups: questionGroup(),
			reply_rounds: replyRound(),
			reply_calls: replyCall(),
			notes: note(),
			erasures: erasure(),
			budget_notices: budgetNotice(),
			canned_replies: cannedReply(),
		};
		const write = Object.entries(samples).map(([kind, record]) => ({ op: 'insert', kind, record }));
		assert.deepEqual(await store.commit({ write } as Commit), { outcome: 'committed', seqs: [] });
		for (const [kind, record] of Object.entries(samples)) {
			assert.deepEqual({ ...(await store.get(kind as Kind, record.id)) }, { ...record, version: 1 }, kind);
		}
	});

	test('writes records, events, jobs and the stored response of a commit together', async () => {
		const store = opened();
		const all = everything();
		assert.equal((await store.commit(all.commit)).outcome, 'committed');
		assert.deepEqual(await all.traces(store), { record: true, events: 1, jobs: 1, answered: true });
	});

	test('a commit based on a stale version is a conflict and writes nothing at all', async () => {
		const store = opened();
		const known = assistant();
		await store.commit({ write: [{ op: 'insert', kind: 'assistants', record: known }] });
		await rename(store, known.id, 'Meanwhile');
		const all = everything();
		const stale: Commit = {
			...all.commit,
			expect: [{ kind: 'assistants', id: known.id, version: 1 }],
			write: [...(all.commit.write ?? []), { op: 'patch', kind: 'assistants', id: known.id, set: { name: 'Stale' } }],
		};
		assert.deepEqual(await store.commit(stale), { outcome: 'conflict', kind: 'assistants', id: known.id });
		assert.equal((await store.get('assistants', known.id))?.name, 'Meanwhile');
		assert.deepEqual(await all.traces(store), { record: false, events: 0, jobs: 0, answered: false });
	});

	test('a commit that expects or patches a missing record is a conflict and writes nothing', async () => {
		const store = opened();
		const gone = newId('assistant');
		for (const part of [
			{ expect: [{ kind: 'assistants', id: gone, version: 1 }] },
			{ write: [{ op: 'patch', kind: 'assistants', id: gone, set: { name: 'Ghost' } }] },
		] satisfies Commit[]) {
			const all = everything();
			const commit: Commit = { ...all.commit, ...part, write: [...(all.commit.write ?? []), ...(part.write ?? [])] };
			assert.deepEqual(await store.commit(commit), { outcome: 'conflict', kind: 'assistants', id: gone });
			assert.deepEqual(await all.traces(store), { record: false, events: 0, jobs: 0, answered: false });
		}
	});

	test('the version of a record grows by one with every write of it', async () => {
		const store = opened();
		const record = assistant();
		const patch = { op: 'patch', kind: 'assistants', id: record.id, set: { description: 'Longer.' } } as const;
		await store.commit({ write: [{ op: 'insert', kind: 'assistants', record }] });
		await store.commit({ write: [patch] });
		assert.equal((await store.get('assistants', record.id))?.version, 2);
		await store.commit({ write: [patch, patch] });
		assert.equal((await store.get('assistants', record.id))?.version, 4);
		await store.commit({ write: [{ ...patch, set: {} }] });
		assert.equal((await store.get('assistants', record.id))?.version, 5);
	});

	test('a patch changes the named fields: null clears a field, undefined leaves it', async () => {
		const store = opened();
		const record = assistant({ description: 'Kept.', archived_at: NOON });
		await store.commit({ write: [{ op: 'insert', kind: 'assistants', record }] });
		const set = { description: undefined, archived_at: null, knowledge_base_ids: ['kb_1'] };
		await store.commit({ write: [{ op: 'patch', kind: 'assistants', id: record.id, set }] });
		const expected = { ...record, archived_at: null, knowledge_base_ids: ['kb_1'], version: 2 };
		assert.deepEqual({ ...(await store.get('assistants', record.id)) }, expected);
	});

	test('a removed record is gone, and may be removed again', async () => {
		const store = opened();
		const record = assistant();
		await store.commit({ write: [{ op: 'insert', kind: 'assistants', record }] });
		const removal: Commit = { write: [{ op: 'remove', kind: 'assistants', id: record.id }] };
		for (const _ of [1, 2]) {
			assert.equal((await store.commit(removal)).outcome, 'committed');
			assert.equal(await store.get('assistants', record.id), undefined);
		}
	});

	test('makes all of 200 concurrent changes of one record', async () => {
		const store = opened();
		const record = knowledgeBase();
		await store.commit({ write: [{ op: 'insert', kind: 'knowledge_bases', record }] });
		const seen = await Promise.all(Array.from({ length: 200 }, () => addDocument(store, record.id)));
		const end = await store.get('knowledge_bases', record.id);
		assert.deepEqual([end?.documents_total, end?.version], [200, 201]);
		// Each got its own number: its decision was still valid when it was committed.
		assert.deepEqual(
			seen.sort((a, b) => a - b),
			Array.from({ length: 200 }, (_, n) => n + 1),
		);
	});

	test('a decision to do nothing commits nothing', async () => {
		const store = opened();
		assert.equal(await decideAndCommit(store, async () => ({ commit: null, result: 'as it was' })), 'as it was');
	});

	test('a commit that fails in the middle is rolled back without affecting others', async () => {
		const store = opened();
		const taken = assistant();
		await store.commit({ write: [{ op: 'insert', kind: 'assistants', record: taken }] });
		const bad = [
			{ write: [{ op: 'patch', kind: 'assistants', id: taken.id, set: { colour: 'red' } }] },
			{ write: [{ op: 'patch', kind: 'assistants', id: taken.id, set: { "name = 'x', version": 'injected' } }] },
			{ write: [{ op: 'insert', kind: 'assistants', record: taken }] },
			{ write: [{ op: 'insert', kind: 'assistants', record: { ...assistant(), name: null } }] },
			{ events: [{ ...event('ws_bad'), data: undefined }] },
			{ events: [{ ...event('ws_bad'), data: () => 'no value' }] },
		] as unknown as Commit[];
		const good = Array.from({ length: bad.length + 1 }, everything);
		const doomed = bad.map((part) => {
			const all = everything();
			const write = [...(all.commit.write ?? []), ...(part.write ?? [])];
			return { ...all, commit: { ...all.commit, ...part, write } };
		});
		// All are sent in one turn of the event loop: good, bad, good, bad …, good.
		const order = good.flatMap((one, index) => (doomed[index] ? [one, doomed[index]] : [one]));
		const ends = await Promise.allSettled(order.map(({ commit }) => store.commit(commit)));
		for (const [index, all] of order.entries()) {
			const end = ends[index];
			if (index % 2 === 0) {
				assert.equal(end?.status === 'fulfilled' && end.value.outcome, 'committed');
				assert.deepEqual(await all.traces(store), { record: true, events: 1, jobs: 1, answered: true });
			} else {
				assert.equal(end?.status === 'rejected' && end.reason.code, 'unavailable');
				assert.deepEqual(await all.traces(store), { record: false, events: 0, jobs: 0, answered: false });
			}
		}
		assert.deepEqual({ ...(await store.get('assistants', taken.id)) }, { ...taken, version: 1 });
		assert.deepEqual(await store.events.after('ws_bad', 0, 10), []);
	});

	test('a commit of several statements that fails in the middle is rolled back, and the next one is made', async () => {
		const store = opened();
		const [record, next] = [assistant(), assistant()];
		const doomed = {
			write: [
				{ op: 'insert', kind: 'assistants', record },
				{ op: 'erase_rounds', message_id: newId('message') },
				{ op: 'patch', kind: 'assistants', id: record.id, set: { colour: 'red' } },
			],
		} as unknown as Commit;
		await assert.rejects(store.commit(doomed), { code: 'unavailable' });
		assert.equal(await store.get('assistants', record.id), undefined);
		await store.commit({ write: [{ op: 'insert', kind: 'assistants', record: next }] });
		assert.ok(await store.get('assistants', next.id));
	});

	test('readers see either nothing or everything of a commit', async () => {
		const store = opened();
		for (let round = 0; round < 30; round++) {
			const [first, second] = [assistant(), assistant()];
			const commit = store.commit({
				write: [
					{ op: 'insert', kind: 'assistants', record: first },
					{ op: 'insert', kind: 'assistants', record: second },
				],
			});
			let settled = false;
			const done = commit.finally(() => {
				settled = true;
			});
			while (!settled) {
				// Read in this order, a second without a first would be half a commit.
				const last = await store.get('assistants', second.id);
				if (last) assert.ok(await store.get('assistants', first.id));
				await new Promise(setImmediate);
			}
			await done;
			assert.ok((await store.get('assistants', first.id)) && (await store.get('assistants', second.id)));
		}
	});

	test('the fence names the owner of the store, from the first epoch on', () => {
		const { owner, epoch } = opened().fence;
		assert.ok(owner.length > 0 && epoch >= 1);
	});
}

function rename(store: Store, id: string, name: string) {
	return store.commit({ write: [{ op: 'patch', kind: 'assistants', id, set: { name } }] });
}

function addDocument(store: Store, id: string): Promise<number> {
	return decideAndCommit(store, async () => {
		const record = await store.get('knowledge_bases', id);
		assert.ok(record);
		const documents_total = record.documents_total + 1;
		return {
			commit: {
				expect: [{ kind: 'knowledge_bases', id, version: record.version }],
				write: [{ op: 'patch', kind: 'knowledge_bases', id, set: { documents_total } }],
			},
			result: documents_total,
		};
	});
}

/** A commit with a part of every sort, and the way to see which of them arrived. */
function everything() {
	const record = assistant();
	const stream = newId('workspace');
	const kind = newId('job');
	const answer = { scope: stream, key: 'k', body_hash: 'h', status: 201, body: '{}', expires_at: Date.now() + 60_000 };
	const commit: Commit = {
		write: [{ op: 'insert', kind: 'assistants', record }],
		jobs: [{ op: 'enqueue', job: { id: newId('job'), kind, ref: record.id, group: 'g', due_at: 0 } }],
		events: [event(stream)],
		idempotency: answer,
	};
	const traces = async (store: Store) => ({
		record: (await store.get('assistants', record.id)) !== undefined,
		events: (await store.events.after(stream, 0, 10)).length,
		jobs: (await store.jobs.claim(kind, 10, 1000)).length,
		answered: (await store.commit({ idempotency: { ...answer, body: 'another' } })).outcome === 'replay',
	});
	return { commit, traces };
}
