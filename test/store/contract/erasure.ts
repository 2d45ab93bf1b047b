import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import {
	CONVERSATION_ERASURE_JOB,
	type Commit,
	ERASED_BODY_HASH,
	type Kind,
	type Records,
	type Store,
	type Write,
} from '../../../src/store/index.ts';
import {
	conversation,
	document,
	erasure as erasureRecord,
	event,
	knowledgeBase,
	message,
	note,
	replyCall,
	replyRound,
	session,
} from '../samples.ts';
import { job } from './jobs.ts';

/** An erasure removes all traces, and nothing else. */
export function erasureContract(opened: () => Store): void {
	test('erases a conversation with its messages, its events and the stored responses that show it', async () => {
		const store = opened();
		const doomed = await talk(store);
		const kept = await talk(store);
		const notes = [doomed, kept].map(({ id }) => note({ conversation_id: id }));
		await store.commit({ write: notes.map((record) => ({ op: 'insert', kind: 'notes', record })) });
		await store.commit({ write: [{ op: 'erase_conversation', id: doomed.id }] });
		assert.deepEqual(await doomed.traces(), { record: false, messages: 0, stream: 0, log: 0, answered: false });
		const left = await store.list('notes', { where: {}, order: 'asc', limit: 10 });
		const withNotes = left.map(({ conversation_id }) => conversation_id);
		assert.deepEqual([withNotes.includes(doomed.id), withNotes.includes(kept.id)], [false, true]);
		assert.deepEqual(await kept.traces(), { record: true, messages: 1, stream: 1, log: 1, answered: true });
	});

	test('an attempt of a request whose conversation was erased is recognised until its response would have expired', async () => {
		const store = opened();
		const { id, request } = await talk(store);
		await store.commit({ write: [{ op: 'erase_conversation', id, limit: 1 }] });
		const again = conversation({ workspace_id: request.scope });
		const late: Commit = { write: [{ op: 'insert', kind: 'conversations', record: again }], idempotency: request };
		const left = { body_hash: ERASED_BODY_HASH, status: 400, body: '' };
		const erased = { outcome: 'replay', ...left };
		assert.deepEqual(await store.idempotency.storedResponse(request), left);
		assert.deepEqual(await store.commit(late), erased);
		assert.deepEqual(await store.commit(late), erased);
		assert.equal(await store.get('conversations', again.id), undefined);
		assert.equal(await store.idempotency.storedResponse({ ...request, body_hash: 'another' }), undefined);
		await store.commit({ write: [{ op: 'erase_expired', before: request.expires_at, limit: 100 }] });
		assert.equal((await store.commit(late)).outcome, 'committed');
	});

	test('a request with the key of an erased one and another body is another request', async () => {
		const store = opened();
		const { id, request } = await talk(store);
		await store.commit({ write: [{ op: 'erase_conversation', id }] });
		const other = { ...request, body_hash: 'another hash' };
		assert.equal((await store.commit({ idempotency: other })).outcome, 'committed');
	});

	test('removes a long conversation at once and its rows in batches, with a job until none remains', async () => {
		const store = opened();
		const doomed = await talk(store);
		const messages = [2, 3, 4, 5].map((seq) => message({ conversation_id: doomed.id, seq }));
		const events = [1, 2, 3].map(() => event(doomed.id));
		await store.commit({ write: messages.map((record) => ({ op: 'insert', kind: 'messages', record })), events });
		const portion = { write: [{ op: 'erase_conversation', id: doomed.id, limit: 2 }] } satisfies Commit;
		const remains = async () =>
			(await store.jobs.claim(CONVERSATION_ERASURE_JOB, 10, 0)).filter(({ ref }) => ref === doomed.id).length;

		await store.commit(portion);
		assert.deepEqual(await doomed.traces(), { record: false, messages: 3, stream: 2, log: 0, answered: false });
		assert.deepEqual([await store.conversations.hasUnerasedRows(doomed.id), await remains()], [true, 1]);
		await store.commit(portion);
		assert.deepEqual([await store.conversations.hasUnerasedRows(doomed.id), await remains()], [true, 1]);
		await store.commit(portion);
		assert.deepEqual(await doomed.traces(), { record: false, messages: 0, stream: 0, log: 0, answered: false });
		assert.deepEqual([await store.conversations.hasUnerasedRows(doomed.id), await remains()], [false, 0]);
	});

	test('the erasure of an end user counts what is removed, and ends when nothing of the end user is left', async () => {
		const store = opened();
		const running = erasureRecord({ workspace_id: newId('workspace') });
		const { workspace_id, end_user_id } = running;
		const records = ['doomed', 'kept'].map((name) =>
			conversation({ workspace_id, end_user_id: name === 'doomed' ? end_user_id : 'someone else' }),
		);
		const [doomed, kept] = records as [(typeof records)[0], (typeof records)[0]];
		const insert = <K extends Kind>(kind: K, record: Omit<Records[K], 'version'>) =>
			({ op: 'insert', kind, record }) as Write;
		const messages = [1, 2, 3].map((seq) => message({ conversation_id: doomed.id, seq }));
		const [first, , third] = messages.map(({ id }) => id);
		const scope = `${doomed.deployment_id} subject hash POST /api/v1/widget/messages`;
		const expires_at = Number.MAX_SAFE_INTEGER;
		const refused = { scope, key: 'refused', body_hash: '', status: 400, body: '{}', expires_at };
		await store.commit({ idempotency: refused });
		await store.commit({ idempotency: { ...refused, scope: scope.replace('hash', 'hashed') } });
		await store.commit({
			write: [
				insert('erasures', running),
				...records.map((record) => insert('conversations', record)),
				...messages.map((record) => insert('messages', record)),
				insert('reply_rounds', replyRound({ message_id: first as string })),
				insert('reply_calls', replyCall({ message_id: third as string })),
				insert('messages', message({ conversation_id: kept.id, seq: 1 })),
				insert('notes', note({ conversation_id: doomed.id })),
			],
			events: [event(doomed.id), event(kept.id)],
		});
		const end = { write: [{ op: 'end_erasure', id: running.id, at: 7 }] } satisfies Commit;
		const portion = { write: [{ op: 'erase_conversation', id: doomed.id, limit: 2 }] } satisfies Commit;
		const stored = async () => (await store.get('erasures', running.id)) as Records['erasures'];

		await store.commit(end);
		assert.equal((await stored()).status, 'erasing');
		await store.commit(portion);
		await store.commit(end);
		assert.equal((await stored()).status, 'erasing', 'a message is left');
		await store.commit(portion);
		await store.commit(end);
		const ended = await stored();
		assert.deepEqual(
			[ended.status, ended.end_user_id, ended.visitor_key, ended.erased_at],
			['overwriting', null, null, 7],
		);
		const { counts } = ended;
		assert.deepEqual([counts.conversations, counts.messages, counts.notes, counts.events], [1, 3, 1, 1]);
		assert.deepEqual([counts.reply_rounds, counts.stored_responses, counts.search_entries], [2, 1, 0]);
		assert.equal(await store.idempotency.storedResponse({ ...refused, scope }), undefined);
		assert.ok(await store.idempotency.storedResponse({ ...refused, scope: scope.replace('hash', 'hashed') }));
		assert.ok(await store.get('conversations', kept.id));
		// What the end user does afterwards is not a part of this erasure.
		await store.commit({ write: [{ op: 'erase_conversation', id: kept.id }] });
		assert.equal((await stored()).counts.conversations, 1);
	});

	test('erases and counts the responses to refused requests of an end user without a conversation', async () => {
		const store = opened();
		const running = erasureRecord({ workspace_id: newId('workspace') });
		const scope = `${newId('deployment')} subject hash `;
		const refusal = { key: 'refused', body_hash: '', status: 404, body: '{}', expires_at: Number.MAX_SAFE_INTEGER };
		const scopes = [`${scope}POST /path`, `${scope.replace('hash', 'hashed')}POST /path`] as const;
		for (const each of scopes) await store.commit({ idempotency: { ...refusal, scope: each } });
		await store.commit({
			write: [
				{ op: 'insert', kind: 'erasures', record: running },
				{ op: 'erase_refusals', erasure_id: running.id, scopes: [scope, `${newId('deployment')} subject hash `] },
			],
		});
		assert.equal((await store.get('erasures', running.id))?.counts.stored_responses, 1);
		const left = await Promise.all(scopes.map((each) => store.idempotency.storedResponse({ ...refusal, scope: each })));
		assert.deepEqual(
			left.map((response) => response !== undefined),
			[false, true],
		);
	});

	test('erases the rounds of a reply with the message, or before it when they are no longer needed', async () => {
		const store = opened();
		const doomed = await talk(store);
		const replies = [2, 3].map((seq) => message({ conversation_id: doomed.id, seq }));
		await store.commit({
			write: replies.flatMap((record) => [
				{ op: 'insert', kind: 'messages', record } as const,
				{ op: 'insert', kind: 'reply_rounds', record: replyRound({ message_id: record.id }) } as const,
				{ op: 'insert', kind: 'reply_calls', record: replyCall({ message_id: record.id }) } as const,
			]),
		});
		const left = async () => {
			const all = { where: {}, order: 'asc', limit: 100 } as const;
			const found = await Promise.all([store.list('reply_rounds', all), store.list('reply_calls', all)]);
			return found.map((records) => replies.map(({ id }) => records.filter((each) => each.message_id === id).length));
		};
		assert.deepEqual(await left(), [
			[1, 1],
			[1, 1],
		]);
		await store.commit({ write: [{ op: 'erase_rounds', message_id: replies[0]?.id as string }] });
		assert.deepEqual(await left(), [
			[0, 1],
			[0, 1],
		]);
		await store.commit({ write: [{ op: 'erase_conversation', id: doomed.id }] });
		assert.deepEqual(await left(), [
			[0, 0],
			[0, 0],
		]);
	});

	test('erases expired responses and sessions in batches, the oldest first', async () => {
		const store = opened();
		const user_id = newId('user');
		const sessions = [1, 2, 3].map((expires_at) => session({ user_id, expires_at }));
		const write = sessions.map((record) => ({ op: 'insert', kind: 'sessions', record }) as const);
		await store.commit({ write });
		const left = async () =>
			(await store.list('sessions', { where: { user_id }, order: 'asc', limit: 10 })).map(({ id }) => id);
		await store.commit({ write: [{ op: 'erase_expired', before: 2, limit: 1 }] });
		assert.deepEqual(await left(), [sessions[1]?.id, sessions[2]?.id]);
		await store.commit({ write: [{ op: 'erase_expired', before: 2, limit: 100 }] });
		assert.deepEqual(await left(), [sessions[2]?.id]);
	});

	test('erases a knowledge base with its documents, its index and its jobs', async () => {
		const store = opened();
		const doomed = await indexed(store);
		const kept = await indexed(store);
		await store.commit({ write: [{ op: 'erase_knowledge_base', id: doomed.id }] });
		assert.deepEqual(await doomed.traces(), { record: false, documents: [], blobs: [], generations: 0, jobs: 0 });
		assert.deepEqual(await kept.traces(), { ...kept.made, record: true, generations: 2, jobs: 2 });
	});

	test('ends all sessions of a user except a named one', async () => {
		const store = opened();
		const user_id = newId('user');
		const [mine, other, foreign] = [session({ user_id }), session({ user_id }), session({ user_id: newId('user') })];
		const write = [mine, other, foreign].map((record) => ({ op: 'insert', kind: 'sessions', record }) as const);
		await store.commit({ write });
		await store.commit({ write: [{ op: 'end_sessions', user_id, except: mine.id }] });
		const there = await Promise.all([mine, other, foreign].map(({ id }) => store.get('sessions', id)));
		assert.deepEqual(
			there.map((record) => record !== undefined),
			[true, false, true],
		);
		await store.commit({ write: [{ op: 'end_sessions', user_id }] });
		assert.equal(await store.get('sessions', mine.id), undefined);
	});

	test('finds the last event that closed a message, if any', async () => {
		const store = opened();
		const stream = newId('conversation');
		const message_id = newId('message');
		assert.equal(await store.conversations.closingEventSeq(stream, message_id), undefined);
		const closing = (type: string) => event(stream, type, { message_id, text: 'closes' });
		const end = await store.commit({
			events: [closing('message.failed'), closing('message.completed'), event(stream)],
		});
		assert.equal(
			await store.conversations.closingEventSeq(stream, message_id),
			end.outcome === 'committed' && end.seqs[1],
		);
	});
}

/** A conversation with a message, an event of each kind and a stored response. */
async function talk(store: Store) {
	const workspace = newId('workspace');
	const record = conversation({ workspace_id: workspace });
	const expires_at = Date.now() + 60_000;
	const request = { scope: workspace, key: 'once', body_hash: 'hash', status: 201, body: '{}', expires_at };
	const commit: Commit = {
		write: [
			{ op: 'insert', kind: 'conversations', record },
			{ op: 'insert', kind: 'messages', record: message({ conversation_id: record.id }) },
		],
		events: [event(record.id), { ...event(workspace), subject: record.id }],
		idempotency: { ...request, subject: record.id },
	};
	assert.equal((await store.commit(commit)).outcome, 'committed');
	return {
		id: record.id,
		request,
		traces: async () => ({
			record: (await store.get('conversations', record.id)) !== undefined,
			messages: (await store.list('messages', { where: { conversation_id: record.id }, order: 'asc', limit: 9 }))
				.length,
			stream: (await store.events.after(record.id, 0, 9)).length,
			log: (await store.events.after(workspace, 0, 9)).length,
			answered: (await store.idempotency.storedResponse({ ...request, body_hash: 'another' })) !== undefined,
		}),
	};
}

/** A knowledge base with two documents, a serving generation and a generation that is being built, and jobs about it and them. */
async function indexed(store: Store) {
	const generations = [newId('generation'), newId('generation')] as const;
	const [generation, rebuilding] = generations;
	const record = knowledgeBase({ generation, rebuilding, documents_total: 2 });
	const documents = [1, 2].map((created_at) =>
		document({ knowledge_base_id: record.id, created_at, blob: newId('document') }),
	);
	const kind = newId('job');
	const commit: Commit = {
		write: [
			{ op: 'insert', kind: 'knowledge_bases', record },
			...documents.map((one) => ({ op: 'insert', kind: 'documents', record: one }) as const),
			...generations.map(
				(one) =>
					({
						op: 'index.open_generation',
						generation: one,
						knowledge_base_id: record.id,
						embedder: 'builtin',
					}) as const,
			),
		],
		jobs: [record.id, documents[1]?.id as string].map((ref) => ({ op: 'enqueue', job: job({ kind, ref }) })),
	};
	assert.equal((await store.commit(commit)).outcome, 'committed');
	const where = { knowledge_base_id: record.id };
	return {
		id: record.id,
		made: { documents: documents.map(({ id }) => id), blobs: documents.map(({ blob }) => blob) },
		traces: async () => ({
			record: (await store.get('knowledge_bases', record.id)) !== undefined,
			documents: (await store.list('documents', { where, order: 'asc', limit: 9 })).map(({ id }) => id),
			blobs: (await store.documents.blobsOf(record.id, undefined, 9)).map(({ blob }) => blob),
			generations: (await Promise.all(generations.map((one) => store.searchIndex.generation(one)))).filter(Boolean)
				.length,
			jobs: (await store.jobs.claim(kind, 9, 60_000)).length,
		}),
	};
}
