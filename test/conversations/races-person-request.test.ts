import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { AppError, createLog, systemClock } from '../../src/base/index.ts';
import { Conversations } from '../../src/conversations/index.ts';
import { type ChatModel, createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import * as samples from '../store/samples.ts';
import { streamFrom } from '../support/model-events.ts';
import { scheduledStore } from './scheduled-store.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'parley-requests-'));
const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
after(async () => {
	await store[Symbol.asyncDispose]();
	await rm(dataDir, { recursive: true, force: true });
});

const assistant = samples.assistant({ model: 'paced/any' });
const features = { streaming: true, rich_content: true, jwt_required: false, handoff: true };
const deployment = { ...samples.deployment({ assistant_id: assistant.id, features }), version: 1 };
const workspaceId = deployment.workspace_id;
await store.commit({
	write: [
		{ op: 'insert', kind: 'assistants', record: assistant },
		{ op: 'insert', kind: 'deployments', record: deployment },
	],
});

const STEPS = [
	'send',
	'ask in words',
	'request',
	'withdraw',
	'take over',
	'release',
	'archive',
	'reopen',
	'stop',
] as const;
type Step = (typeof STEPS)[number];

const EXPECTED = new Set(['conversation_archived', 'conversation_busy']);

async function unlessRefused<T>(operation: Promise<T>): Promise<T | null> {
	try {
		return await operation;
	} catch (error) {
		if (error instanceof AppError && EXPECTED.has(error.code)) return null;
		throw error;
	}
}

/** Whether the visitor waits for a person after the changes of the log, by their meaning alone. */
function assertConsistent(
	events: ReadonlyArray<{ data: { handled_by: string; requested_person_at: string | null } }>,
): void {
	for (const { data } of events) {
		assert.ok(
			data.handled_by === 'model' || data.requested_person_at === null,
			'a taken-over conversation has a request',
		);
	}
}

test('however requests, takeovers and replies interleave, no request is lost and none outlives a takeover', {
	timeout: 60_000,
}, async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.scheduler(),
			fc.array(fc.constantFrom<Step[]>(...STEPS), { minLength: 1, maxLength: 12 }),
			async (scheduler, script) => {
				const pass = scheduler.scheduleFunction(async () => void (await nextTurn()));
				const chat: ChatModel = {
					stream: streamFrom(async function* (_request, signal) {
						await pass();
						signal.throwIfAborted();
						yield { type: 'delta', text: 'Hm.' };
						await pass();
					}),
				};
				const paced = scheduledStore(store, scheduler);
				using outbox = new Outbox(paced);
				await using conversations = new Conversations({
					...{ store: paced, outbox, clock: systemClock, log: createLog('silent'), replyTimeoutMs: 60_000 },
					knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
					tools: { functionsOf: async () => [] },
					models: createModels({ providers: [{ id: 'paced', models: null, chat }] }),
				});
				const send = (content: string, conversation_id?: string) =>
					unlessRefused(
						conversations.send({
							...{ deployment, conversation_id, content, metadata: undefined, channel: 'widget', end_user: null },
						}),
					);
				const first = await scheduler.waitFor(send('first'));
				assert.ok(first && 'reply' in first);
				const id = first.reply.conversation_id;
				/** What was acknowledged, in the order of the acknowledgements. */
				const acknowledged: Array<{ version: number; requested: boolean; human: boolean }> = [];
				const record = async (change: ReturnType<Conversations['change']>) => {
					const changed = await unlessRefused(change);
					if (!changed) return;
					const { version, requested_person_at, handled_by } = changed;
					acknowledged.push({ version, requested: requested_person_at !== null, human: handled_by === 'human' });
				};
				const by = { id: 'user_1', name: 'Kim' };
				const run: Record<Step, () => Promise<unknown>> = {
					send: () => send('Hm?', id),
					'ask in words': () => send('I want to talk to a human', id),
					request: () => record(conversations.requestPerson(id, { withdraw: false, email: null })),
					withdraw: () => record(conversations.requestPerson(id, { withdraw: true, email: null })),
					'take over': () => record(conversations.handOver(id, { workspaceId, to: 'human', by, versions: null })),
					release: () => record(conversations.handOver(id, { workspaceId, to: 'model', by, versions: null })),
					archive: () =>
						record(conversations.change(id, { workspaceId, versions: null, patch: { status: 'archived' } })),
					reopen: () => record(conversations.change(id, { workspaceId, versions: null, patch: { status: 'active' } })),
					stop: () => conversations.stop(id),
				};
				const steps = script.map(async (step) => {
					await pass();
					await run[step]();
				});
				await scheduler.waitFor(Promise.all(steps));
				await scheduler.waitFor(conversations.drain(30_000));

				const final = await store.get('conversations', id);
				assert.ok(final);
				assert.ok(final.handled_by === 'model' || final.requested_person_at === null);
				const events = await store.events.after(workspaceId, 0, 10_000, ['conversation.updated']);
				assertConsistent(events.filter(({ subject }) => subject === id) as never);
				// The last state that was acknowledged and is the newest of the record holds; nothing after it was lost.
				const last = acknowledged.find(({ version }) => version === final.version);
				if (last) {
					assert.deepEqual(last, {
						version: final.version,
						requested: final.requested_person_at !== null,
						human: final.handled_by === 'human',
					});
				}
				const ends = ['withdraw', 'take over', 'release'] as const;
				const asks = script.includes('request') && !script.includes('archive');
				if (asks && !ends.some((step) => script.includes(step))) assert.notEqual(final.requested_person_at, null);
				if (!script.includes('request') && !script.includes('ask in words')) {
					assert.equal(final.requested_person_at, null);
				}
			},
		),
		{ numRuns: 60 },
	);
});
