import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, ClockJumpDetector, createLog, deferred, type Log, newId } from '../../src/base/index.ts';
import { Conversations, Retention } from '../../src/conversations/index.ts';
import { createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { EndUserErasures, type EndUserErasuresOptions } from '../../src/privacy/index.ts';
import type { Commit, Store, Write } from '../../src/store/index.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { requireRunningTurn } from '../conversations/running-turn.ts';
import * as samples from '../store/samples.ts';
import { openTemporaryStore } from '../support/temporary-store.ts';
import { until } from '../support/until.ts';

const store = await openTemporaryStore();
const log = createLog('silent');
const clock = { now: () => Date.now() };
const GONE = { backups_gone_at: 7, upgrade_copies_gone_at: null };

/** The services of one process over the store that all tests share. */
function startProcess(over: Store = store, more: Partial<EndUserErasuresOptions> = {}) {
	const model = new ManualModel({ autoReply: ({ question }) => (question.startsWith('Wait') ? undefined : ['Yes.']) });
	const outbox = new Outbox(over);
	const conversations = new Conversations({
		store: over,
		outbox,
		knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
		tools: { functionsOf: async () => [] },
		models: createModels({ providers: [model.provider] }),
		clock,
		log,
		replyTimeoutMs: 60_000,
	});
	const visitorAccount = (deploymentId: string, visitorKey: string) => `${deploymentId}:${visitorKey}`;
	const backupExpiry = async () => GONE;
	const required = { store: over, conversations, visitorAccount, backupExpiry, clock, log };
	const erasures = new EndUserErasures({ ...required, ...more });
	return {
		model,
		conversations,
		erasures,
		async [Symbol.asyncDispose]() {
			await erasures[Symbol.asyncDispose]();
			await conversations[Symbol.asyncDispose]();
			outbox[Symbol.dispose]();
		},
	};
}

async function write(...writes: Write[]): Promise<void> {
	assert.equal((await store.commit({ write: writes })).outcome, 'committed');
}

/** A workspace with a deployment, and an end user. */
async function shop() {
	const workspace_id = newId('workspace');
	const assistant = samples.assistant({ workspace_id, model: 'scripted/any' });
	const deployment = samples.deployment({ workspace_id, assistant_id: assistant.id });
	await write(
		{ op: 'insert', kind: 'workspaces', record: samples.workspace({ id: workspace_id }) },
		{ op: 'insert', kind: 'assistants', record: assistant },
		{ op: 'insert', kind: 'deployments', record: deployment },
	);
	const endUser = { id: newId('request'), name: 'Ada', email: 'ada@mail.example' };
	const message = (content: string) => ({
		deployment: { ...deployment, version: 1 },
		conversation_id: undefined,
		content,
		metadata: undefined,
		channel: 'widget' as const,
		end_user: endUser,
	});
	const left = async () =>
		(await store.list('conversations', { where: { workspace_id, end_user_id: endUser.id }, order: 'asc', limit: 10 }))
			.length;
	return { workspace_id, endUser, message, left };
}

/** A conversation with some messages. */
async function storeConversation(workspace_id: string, end_user_id: string, messages: number): Promise<void> {
	const conversation = samples.conversation({ workspace_id, end_user_id, message_count: messages });
	await write({ op: 'insert', kind: 'conversations', record: conversation });
	for (let first = 1; first <= messages; first += 600) {
		const length = Math.min(600, messages - first + 1);
		const batch = Array.from({ length }, (_, index) =>
			samples.message({ workspace_id, conversation_id: conversation.id, seq: first + index }),
		);
		await write(...batch.map((record) => ({ op: 'insert', kind: 'messages', record }) as const));
	}
}

/** The store, whose commits fail from the nth on, as those of a process that has ended. @param isMade the nth is made, and not answered */
function endingAt(nth: number, isMade: boolean): Store & { hasEnded(): boolean } {
	let count = 0;
	const ended = () => new AppError('unavailable', 'The process has ended.');
	return new Proxy(store, {
		get(target, name) {
			if (name === 'hasEnded') return () => count >= nth;
			if (name === 'commit') {
				return async (commit: Commit) => {
					count++;
					if (count > nth || (count === nth && !isMade)) throw ended();
					const outcome = await target.commit(commit);
					if (count >= nth) throw ended();
					return outcome;
				};
			}
			if (name === 'overwriteErased' && count >= nth) return async () => Promise.reject(ended());
			const value: unknown = Reflect.get(target, name, target);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	}) as Store & { hasEnded(): boolean };
}

test('continues after the end of the process at any commit, and its counts are exact', async () => {
	for (const isMade of [false, true]) {
		for (let nth = 1; ; nth++) {
			const { workspace_id, endUser, left } = await shop();
			await storeConversation(workspace_id, endUser.id, 3);
			await storeConversation(workspace_id, endUser.id, 501);
			const { id } = await startProcessAndRequest(workspace_id, endUser.id);
			const failing = endingAt(nth, isMade);
			{
				await using first = startProcess(failing);
				await first.erasures.run().catch(() => {});
			}
			await using next = startProcess();
			// The rest of an interrupted conversation is the work of the retention.
			await eraseInterrupted(next);
			await next.erasures.run();
			const erasure = await store.get('erasures', id);
			assert.deepEqual([erasure?.status, erasure?.end_user_id, erasure?.backups], ['done', null, GONE]);
			assert.deepEqual([erasure?.counts.conversations, erasure?.counts.messages], [2, 504], `commit ${nth}`);
			assert.equal(await left(), 0);
			if (!failing.hasEnded()) break;
		}
	}
});

async function startProcessAndRequest(workspace: string, endUser: string) {
	// A process that stops before the first step.
	await using process = startProcess();
	process.erasures.stop();
	return process.erasures.request(workspace, endUser).commit();
}

async function eraseInterrupted({ conversations }: ReturnType<typeof startProcess>): Promise<void> {
	await using retention = new Retention({ store, conversations, jumpDetector: new ClockJumpDetector(clock), log });
	await retention.sweep();
}

test('a reply that is being written is stopped, and its conversation is erased', async () => {
	await using process = startProcess();
	const { workspace_id, endUser, message, left } = await shop();
	requireRunningTurn(await process.conversations.send(message('Wait for me.')));
	await until('the model is asked', () => process.model.replies.length === 1);
	const { id } = await process.erasures.request(workspace_id, endUser.id).commit();
	await until('the erasure is done', async () => (await store.get('erasures', id))?.status === 'done');
	assert.equal(process.model.replies[0]?.signal.aborted, true);
	assert.equal(await left(), 0);
	assert.deepEqual((await store.get('erasures', id))?.counts.messages, 2);
});

test('messages of an end user are refused while rows are erased, those of others are not', async () => {
	const { workspace_id, endUser, message, left } = await shop();
	await startProcessAndRequest(workspace_id, endUser.id);
	await using process = startProcess();
	await process.conversations.start();
	await assert.rejects(process.conversations.send(message('Hello?')), (error: AppError) => {
		assert.deepEqual([error.code, error.retry_after], ['unavailable', 5]);
		return true;
	});
	const other = { ...message('Hello?'), end_user: { ...endUser, id: 'another' } };
	requireRunningTurn(await process.conversations.send(other));
	await process.erasures.run();
	assert.equal(await left(), 0);
	requireRunningTurn(await process.conversations.send(message('Hello again.')));
	assert.equal(await left(), 1);
});

test('messages are accepted again although the answer to the end of the erasure was lost', async () => {
	const { workspace_id, endUser, message } = await shop();
	await storeConversation(workspace_id, endUser.id, 3);
	let isLost = false;
	const losing = new Proxy(store, {
		get(target, name) {
			// Lost answers are not published.
			if (name === 'onCommits') return () => () => {};
			if (name === 'commit') {
				return async (commit: Commit) => {
					const outcome = await target.commit(commit);
					const isEnd = commit.write?.some(({ op }) => op === 'end_erasure');
					if (!isEnd || isLost) return outcome;
					isLost = true;
					throw new AppError('unavailable', 'The answer was lost.');
				};
			}
			const value: unknown = Reflect.get(target, name, target);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	});
	const { id } = await startProcessAndRequest(workspace_id, endUser.id);
	await using process = startProcess(losing, { intervalMs: 1 });
	await process.conversations.start();
	await process.erasures.run();
	assert.equal((await store.get('erasures', id))?.status, 'overwriting');
	await assert.rejects(process.conversations.send(message('Hello?')), { code: 'unavailable' });
	await until('the erasure is tried again', async () => {
		await process.erasures.run();
		return (await store.get('erasures', id))?.status === 'done';
	});
	requireRunningTurn(await process.conversations.send(message('Hello again.')));
});

test('rows of an end user are erased, after a failure too, although the overwriting for another waits for a reader', async () => {
	const [first, second] = [await shop(), await shop()];
	await storeConversation(first.workspace_id, first.endUser.id, 3);
	await storeConversation(second.workspace_id, second.endUser.id, 3);
	const reader = deferred<void>();
	let failures = 0;
	const busy = new Proxy(store, {
		get(target, name) {
			if (name === 'overwriteErased') {
				return async () => {
					await reader.promise;
					await target.overwriteErased();
				};
			}
			if (name === 'commit') {
				return async (commit: Commit) => {
					const isSecond = (write: Write) => write.op === 'end_erasure' && ids.length > 0 && write.id !== ids[0];
					if (commit.write?.some(isSecond) && failures++ === 0) throw new AppError('unavailable', 'The disk is full.');
					return target.commit(commit);
				};
			}
			const value: unknown = Reflect.get(target, name, target);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	});
	const ids: string[] = [];
	await using process = startProcess(busy, { intervalMs: 20 });
	const areAll = async (status: string) =>
		(await Promise.all(ids.map((id) => store.get('erasures', id)))).every((erasure) => erasure?.status === status);
	for (const { workspace_id, endUser, left } of [first, second]) {
		ids.push((await process.erasures.request(workspace_id, endUser.id).commit()).id);
		await until('its rows are gone', () => areAll('overwriting'));
		assert.equal(await left(), 0);
	}
	assert.ok(failures > 1, 'the second was tried again');
	reader.resolve();
	await until('both are done', () => areAll('done'));
});

for (const [name, attemptMs, erase] of [
	['fails', 60_000, () => Promise.reject(new Error('The conversation cannot be loaded.'))],
	// Far longer than the other erasure takes, also on a busy machine.
	['never ends', 5_000, () => new Promise<never>(() => {})],
] as const) {
	test(`an erasure that ${name} is logged, and does not hold up the others`, async () => {
		const [ill, well] = [await shop(), await shop()];
		const ids: string[] = [];
		for (const { workspace_id, endUser } of [ill, well]) {
			await storeConversation(workspace_id, endUser.id, 3);
			ids.push((await startProcessAndRequest(workspace_id, endUser.id)).id);
		}
		const lines: Record<string, unknown>[] = [];
		const recorder = { ...log, warn: (facts: Record<string, unknown>) => void lines.push(facts) } as unknown as Log;
		await using process = startProcess();
		const { runningErasures } = process.conversations;
		const conversations = {
			runningErasures,
			erase: (...[id, options]: Parameters<Conversations['erase']>) =>
				options.workspaceId === ill.workspace_id ? erase() : process.conversations.erase(id, options),
		};
		await using other = startProcess(store, { conversations, attemptMs, log: recorder });
		await other.erasures.run();
		const [first, second] = await Promise.all(ids.map((id) => store.get('erasures', id)));
		assert.deepEqual([first?.status, second?.status], ['erasing', 'done']);
		assert.deepEqual([await ill.left(), await well.left()], [1, 0]);
		const [{ error, ...facts } = {}, ...further] = lines;
		assert.deepEqual(facts, { erasure: ids[0], workspace: ill.workspace_id, retry_seconds: 60 });
		assert.match(String(error), /^(The conversation cannot be loaded|It takes too long)\.$/);
		assert.deepEqual(further, []);
		await process.erasures.run();
		assert.equal((await store.get('erasures', ids[0] as string))?.status, 'done', 'another process continues it');
	});
}
