import type { Access } from '../access/index.ts';
import { type Clock, type SecretBox, timestamp } from '../base/index.ts';
import type { Operations, Scope } from '../contract/index.ts';
import { listMessages, presentConversation, presentMessage, presentNote } from '../conversations/index.ts';
import { visitorAccount, visitorKey } from '../deployments/index.ts';
import type { ConversationRecord, ListPosition, Store, StoredEvent } from '../store/index.ts';
import { presentDelivery } from '../webhooks/index.ts';
import { type Handler, RawResponse } from './call.ts';
import { bySequence } from './conversations.ts';

/** The version of the format. It changes when a program that reads the former one would fail. */
const FORMAT_VERSION = 1;
/** Resources of one read, and of one chunk of the response. */
const PAGE_SIZE = 100;
/** Attempts of a delivery: its retries end after three days. */
const MAX_ATTEMPTS = 1_000;

/** What an export shows. A caller needs the scope of each area. */
const EXPORTED_SCOPES: readonly Scope[] = ['conversations:read', 'webhooks:read'];

type ReadingStore = Pick<Store, 'conversations' | 'endUsers' | 'list'>;

export interface EndUserExportOptions {
	access: Pick<Access, 'requireScope'>;
	store: Store;
	secrets: SecretBox;
	clock: Clock;
}

/** What is stored about an end user, as a file. */
export function endUserExportHandlers({ access, store, secrets, clock }: EndUserExportOptions): {
	exportEndUser: Handler<Operations['exportEndUser']>;
} {
	return {
		async exportEndUser({ caller, query }) {
			for (const scope of EXPORTED_SCOPES) access.requireScope(caller, scope);
			return new RawResponse({
				headers: [
					['content-type', 'application/jsonl'],
					['content-disposition', 'attachment; filename="end-user.jsonl"'],
					['x-content-type-options', 'nosniff'],
					['cache-control', 'no-store'],
				],
				chunks: exportEndUser(
					store,
					caller.workspaceId,
					query.end_user_id,
					(deploymentId) => visitorAccount(secrets, deploymentId, visitorKey(query.end_user_id, '')),
					clock.now(),
				),
			});
		},
	};
}

/**
 * An end user as JSON Lines, `{"type", "resource"}` each, in chunks of one page. It is read while it is sent: conversation by
 * conversation, in order of creation. What is stored about budgets and costs outlives the conversations, and comes last.
 * @param accountIn the account of the end user's costs in a deployment
 */
async function* exportEndUser(
	store: ReadingStore,
	workspace_id: string,
	end_user_id: string,
	accountIn: (deploymentId: string) => string,
	now: number,
): AsyncGenerator<string> {
	let lines = 0;
	const chunkOf = (type: string, resources: readonly object[]): string => {
		lines += resources.length;
		return resources.map((resource) => `${JSON.stringify({ type, resource })}\n`).join('');
	};
	yield chunkOf('export', [
		{ format: 'parley-end-user', version: FORMAT_VERSION, started_at: timestamp(now), end_user_id },
	]);
	const conversations = pages((after) =>
		store.list('conversations', { where: { workspace_id, end_user_id }, after, order: 'asc', limit: PAGE_SIZE }),
	);
	// The account of a conversation may belong to a deployment that was removed.
	const accounts = new Set<string>();
	for await (const page of conversations) {
		for (const conversation of page) {
			yield chunkOf('conversation', [presentConversation(conversation)]);
			for await (const [type, resources] of partsOf(store, conversation)) yield chunkOf(type, resources);
			if (conversation.visitor_id !== null) accounts.add(conversation.visitor_id);
		}
	}
	const deployments = pages((after) =>
		store.list('deployments', { where: { workspace_id }, after, order: 'asc', limit: PAGE_SIZE }),
	);
	for await (const page of deployments) for (const { id } of page) accounts.add(accountIn(id));
	for (const account of accounts) {
		for await (const [type, resources] of eventsAbout(store, account)) yield chunkOf(type, resources);
		yield chunkOf('cost', await costsOf(store, workspace_id, account));
	}
	yield chunkOf('end', [{ lines: lines + 1 }]);
}

/** Pages of resources with their types. */
async function* partsOf(
	store: ReadingStore,
	{ id }: ConversationRecord,
): AsyncGenerator<[type: string, resources: object[]]> {
	const where = { conversation_id: id };
	const inOrder = { where, order: 'asc', limit: PAGE_SIZE } as const;
	for await (const page of pages((after) => listMessages(store, { ...inOrder, after }), bySequence)) {
		yield ['message', page.map(presentMessage)];
	}
	for await (const page of pages((after) => store.list('notes', { ...inOrder, after }))) {
		yield ['note', page.map(presentNote)];
	}
	yield* eventsAbout(store, id);
	for (let after = { scope: '', key: '' }; ; ) {
		const answers = await store.endUsers.answersAbout(id, after, PAGE_SIZE);
		const present = answers.map(({ key, status, body, expires_at }) => ({
			...{ idempotency_key: key, status, body, expires_at: timestamp(expires_at) },
		}));
		yield ['stored_response', present];
		if (answers.length < PAGE_SIZE) break;
		after = answers.at(-1) ?? after;
	}
	const questions = await store.endUsers.questionsIn(id);
	yield [
		'unanswered_question',
		questions.map(({ message_id, question, asked_at }) => ({ message_id, question, asked_at: timestamp(asked_at) })),
	];
}

/** Pages of the events about a conversation, or about the budget of a visitor, and of their deliveries. */
async function* eventsAbout(store: ReadingStore, id: string): AsyncGenerator<[type: string, resources: object[]]> {
	for (let seq = 0; ; ) {
		const events = await store.endUsers.eventsAbout(id, seq, PAGE_SIZE);
		if (events.length > 0) yield ['event', events.map(presentStoredEvent)];
		for (const event of events) yield ['delivery', await deliveriesOf(store, event)];
		if (events.length < PAGE_SIZE) break;
		seq = events.at(-1)?.seq ?? seq;
	}
}

/** The sums of a visitor's costs, by day. The account begins with its deployment. */
async function costsOf(store: ReadingStore, workspaceId: string, account: string): Promise<object[]> {
	const sums = await store.endUsers.costsOf(workspaceId, account);
	const deployment_id = account.slice(0, account.indexOf(':'));
	return sums.map(({ day, spent, reserved }) => ({
		...{ day: timestamp(day), deployment_id, visitor_id: account },
		...{ cost_micros: spent, reserved_micros: reserved },
	}));
}

/** An event of the log or of a conversation's stream, as it is stored. */
function presentStoredEvent({ id, type, created_at, data }: StoredEvent): object {
	return { id, type, created_at: timestamp(created_at), data };
}

async function deliveriesOf(store: ReadingStore, { seq }: StoredEvent): Promise<object[]> {
	const deliveries = await store.endUsers.deliveriesOf(seq);
	return Promise.all(
		deliveries.map(async (record) => {
			const query = { where: { delivery_id: record.id }, order: 'asc', limit: MAX_ATTEMPTS } as const;
			const attempts = await store.list('delivery_attempts', query);
			const attempt_log = attempts.map(({ number, created_at, status_code, duration_ms, error, answer }) => ({
				...{ number, at: timestamp(created_at), status_code, duration_ms, error, answer },
			}));
			return { ...presentDelivery(record), attempt_log };
		}),
	);
}

const byTime = ({ created_at, id }: { created_at: number; id: string }): ListPosition => ({ at: created_at, id });

/** The pages of a list until its end. */
async function* pages<T extends { created_at: number; id: string }>(
	read: (after: ListPosition | undefined) => Promise<T[]>,
	positionOf: (item: T) => ListPosition = byTime,
): AsyncGenerator<T[]> {
	for (let after: ListPosition | undefined; ; ) {
		const page = await read(after);
		if (page.length > 0) yield page;
		const last = page.at(-1);
		if (last === undefined || page.length < PAGE_SIZE) return;
		after = positionOf(last);
	}
}
