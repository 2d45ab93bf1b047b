import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { newId } from '../../../src/base/index.ts';
import { workerEntry } from '../../../src/pool/index.ts';
import { type Commit, openSqliteStore, requireCommitted, type Store, type Write } from '../../../src/store/index.ts';
import { addTalks, talk } from '../contract/talks.ts';
import * as samples from '../samples.ts';
import { GeneratedDocuments } from '../search/generated-documents.ts';

export const WORKSPACE = 'ws_full';
export const GENERATION = 'gen_full';
export const BASIS = 'basis_full';
export const EMBEDDER = 'local/embed';
export const DIMENSIONS = 16;
const DAY = Date.UTC(2026, 10, 20);

/** What the tests look for in the copy. */
export interface FullDatabase {
	/** The hash of an API key, and of a session. */
	keyHash: string;
	sessionHash: string;
	webhook: string;
	conversation: string;
	job: string;
	/** The names of uploaded files. */
	files: string[];
	/** The number of the last event that was ever stored. It is erased. */
	lastSeq: number;
}

/** Fills the data folder of a stopped server: each table has rows, and some of what was stored is removed again. */
export async function fillDataFolder(dataDir: string, talks = 20): Promise<FullDatabase> {
	const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const full = await fill(store, talks);
	await store[Symbol.asyncDispose]();
	return full;
}

async function fill(store: Store, talks: number): Promise<FullDatabase> {
	const commit = async (commit: Commit) => requireCommitted(await store.commit(commit));
	const keyHash = createHash('sha256').update('key').digest('hex');
	const sessionHash = createHash('sha256').update('session').digest('hex');
	const hook = samples.webhook({ workspace_id: WORKSPACE, events: ['*'], status: 'active' });
	await commit({ write: records(keyHash, sessionHash) });
	await commit({ write: [{ op: 'insert', kind: 'webhooks', record: hook }] });

	const conversation = await addConversations(store, talks);
	const jobs = ['ingest', 'train'].map((kind) => {
		return { id: newId('job'), kind, ref: newId('document'), group: WORKSPACE, due_at: 0 };
	});
	await commit({ jobs: jobs.map((job) => ({ op: 'enqueue', job })) });
	await store.jobs.claim('ingest', 1, 60_000);
	const receipt = { scope: `${WORKSPACE} POST /x`, key: 'once', body_hash: 'h', expires_at: Date.now() + 86_400_000 };
	await commit({ idempotency: { ...receipt, status: 201, body: '{"a":"\\u0000"}', subject: conversation } });
	const pending = { conversation_id: conversation, question_id: newId('message'), reply_id: null };
	await commit({ idempotency: { ...receipt, key: 'pending', pending } });
	const attempt = samples.deliveryAttempt({
		delivery_id: (await store.deliveries.due(hook.id, Date.now(), 1)).firstAttempts[0]?.id as string,
	});
	await commit({
		write: [
			{ op: 'insert', kind: 'delivery_attempts', record: attempt },
			{ op: 'record_failure', webhook_id: hook.id, at: DAY },
		],
	});
	await addIndex(store);
	const files = await addFiles(store);
	await projectAll(store);
	await commit({
		write: [
			{ op: 'inbox.read', reader: 'user_1', conversation_id: conversation, seq: 1 },
			{ op: 'inbox.read_before', reader: 'user_1', at: DAY },
		],
	});
	// The last event and the last chunk are removed: their numbers are not used again.
	const removed = talk(WORKSPACE, DAY);
	await addTalks(store, [removed]);
	const lastSeq = await store.events.lastSeq();
	await commit({ write: [{ op: 'erase_conversation', id: removed.id }] });
	return { keyHash, sessionHash, webhook: hook.id, conversation, job: jobs[0]?.id as string, files, lastSeq };
}

function records(keyHash: string, sessionHash: string): Write[] {
	const own = { workspace_id: WORKSPACE };
	const [page, message] = [samples.sourcePage(), samples.message(own)];
	return [
		{ op: 'insert', kind: 'server_facts', record: { id: 'secret_key', value: 'fingerprint', created_at: DAY } },
		{ op: 'insert', kind: 'workspaces', record: samples.workspace({ id: WORKSPACE }) },
		{ op: 'insert', kind: 'workspace_guards', record: { id: WORKSPACE, created_at: DAY } },
		{ op: 'insert', kind: 'api_keys', record: samples.apiKey({ ...own, hash: keyHash }) },
		{ op: 'insert', kind: 'users', record: samples.user(own) },
		{ op: 'insert', kind: 'sessions', record: samples.session({ ...own, hash: sessionHash }) },
		{ op: 'insert', kind: 'audit_log', record: samples.auditRecord(own) },
		{ op: 'insert', kind: 'tools', record: samples.tool(own) },
		{ op: 'insert', kind: 'assistants', record: samples.assistant(own) },
		{ op: 'insert', kind: 'deployments', record: samples.deployment(own) },
		{ op: 'insert', kind: 'canned_replies', record: samples.cannedReply(own) },
		{ op: 'insert', kind: 'knowledge_bases', record: samples.knowledgeBase({ ...own, tuned_weight: 0.1 + 0.2 }) },
		{ op: 'insert', kind: 'documents', record: samples.document({ ...own, id: 'doc_sample' }) },
		{ op: 'insert', kind: 'sources', record: samples.source({ ...own, id: page.source_id }) },
		{ op: 'insert', kind: 'source_pages', record: page },
		{ op: 'insert', kind: 'reply_rounds', record: samples.replyRound({ message_id: message.id }) },
		{ op: 'insert', kind: 'reply_calls', record: samples.replyCall({ message_id: message.id }) },
		{ op: 'insert', kind: 'notes', record: samples.note(own) },
		{ op: 'insert', kind: 'erasures', record: samples.erasure(own) },
		{ op: 'insert', kind: 'question_groups', record: samples.questionGroup(own) },
		{ op: 'insert', kind: 'budget_notices', record: samples.budgetNotice(own) },
	];
}

/** @returns the id of one of them */
async function addConversations(store: Store, talks: number): Promise<string> {
	const made = Array.from({ length: talks }, (_, n) =>
		talk(WORKSPACE, DAY + n, {
			question: { content: `Where is parcel ${n}? 荷物はどこ\0${n % 7}` },
			reply: {
				content: `Parcel ${n} is at the Köln depot.`,
				answered_by: n % 3 === 0 ? 'none' : 'documents',
				citations: n % 3 === 0 ? [] : samples.message().citations,
			},
		}),
	);
	for (let at = 0; at < made.length; at += 200) await addTalks(store, made.slice(at, at + 200));
	const [first] = made as [ReturnType<typeof talk>];
	const spender = { workspace_id: WORKSPACE, deployment_id: 'dep_1', visitor_id: 'dep_1:v', model: 'openai/a' };
	const reserved = newId('message');
	requireCommitted(
		await store.commit({
			write: [
				{ op: 'spending.settle', message_id: newId('message'), cost: 7, unreserved: { spender, day: DAY } },
				{
					...{ op: 'spending.reserve', message_id: reserved, conversation_id: first.id, spender },
					...{ day: DAY, amount: 5, limits: [] },
				} as Write,
			],
		}),
	);
	return first.id;
}

/** A generation with a basis, after some documents were replaced and removed. */
async function addIndex(store: Store): Promise<void> {
	const generated = new GeneratedDocuments(3);
	const write = async (...write: Write[]) => requireCommitted(await store.commit({ write }));
	await write({
		op: 'index.open_generation',
		generation: GENERATION,
		knowledge_base_id: 'kb_full',
		embedder: 'builtin',
	});
	for (let n = 0; n < 60; n++) await write(generated.document(GENERATION, `doc_${n}`));
	for (let n = 0; n < 60; n += 7) await write(generated.document(GENERATION, `doc_${n}`));
	for (const n of [3, 4, 59])
		await write({ op: 'index.remove_document', generation: GENERATION, document_id: `doc_${n}` });
	const open = (basis: string, floor: number): Write => ({
		...{ op: 'index.open_basis', generation: GENERATION, basis, dimensions: DIMENSIONS, trained_on: 50, floor },
		model: new Uint8Array(100_000).fill(7),
		sample: new Int8Array(DIMENSIONS).fill(-3),
	});
	await write(open(BASIS, 0.125));
	for (let after = 0; ; ) {
		const terms = await store.searchIndex.termsAfter(GENERATION, after, 100);
		const ids = terms.map(({ id }) => id);
		if (ids.length === 0) break;
		const values = Int8Array.from({ length: ids.length * DIMENSIONS }, (_, n) => ((n * 37 + after) % 255) - 127);
		await write({ op: 'index.add_vectors', basis: BASIS, chunk_ids: ids, vectors: values });
		after = ids.at(-1) as number;
	}
	await write({ op: 'index.serve_basis', generation: GENERATION, basis: BASIS });
	// Opened later, with an earlier name.
	await write(open('basis_early', 0));
}

/** Files of no byte, of a few, and of several chunks of PostgreSQL. @returns their names */
async function addFiles(store: Store): Promise<string[]> {
	const contents = [Buffer.alloc(0), Buffer.from('A manual.'), Buffer.alloc(700_000, 'page ')];
	const names: string[] = [];
	for (const content of contents) {
		const received = await store.blobs.receive(
			(async function* () {
				yield content;
			})(),
		);
		await received.persist();
		const record = samples.document({ workspace_id: WORKSPACE, blob: received.hash, size_bytes: content.length });
		requireCommitted(await store.commit({ write: [{ op: 'insert', kind: 'documents', record }] }));
		names.push(received.hash);
	}
	return names;
}

async function projectAll(store: Store): Promise<void> {
	const target = await store.events.lastSeq();
	const write: Write[] = [
		{ op: 'inbox.project', limit: 500 },
		{ op: 'statistics.project', limit: 500 },
	];
	const isBehind = async () =>
		(await store.statistics.position()) < target || (await store.inbox.progress()).seq < target;
	while (await isBehind()) requireCommitted(await store.commit({ write }));
}

/** Changes the embedded database while no server runs. */
export function changeDatabase(dataDir: string, sql: string): void {
	const db = new Database(join(dataDir, 'parley.db'));
	db.exec(sql);
	db.close();
}
